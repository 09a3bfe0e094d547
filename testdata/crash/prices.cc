// Prices by article: the best of an empty range is taken.
#include <algorithm>
#include <cstdio>
#include <vector>

namespace shop {

struct Price {
    int article;
    int cents;
};

template <class T>
class Table {
public:
    explicit Table(std::size_t n) : items_(new T[n]()), size_(n) {}
    ~Table() { delete[] items_; }
    Table(const Table&) = delete;
    const T& operator[](std::size_t i) const
    {
        return items_[i];
    }
    std::size_t size() const { return size_; }

private:
    T* items_;
    std::size_t size_;
};

struct Cheapest {
    int limit;
    int operator()(const Table<Price>& table, std::size_t from) const
    {
        int best = limit;
        for (std::size_t i = from; i <= table.size(); i++)
            best = std::min(best, table[i].cents); // fault
        return best;
    }
};

int lowest(const Table<Price>& table, int limit)
{
    auto pick = [&](std::size_t from) {
        Cheapest cheapest{limit};
        return cheapest(table, from); // caller
    };
    return pick(0);
}

} // namespace shop

int main()
{
    shop::Table<shop::Price> table(3);
    std::printf("%d\n", shop::lowest(table, 100));
    return 0;
}
