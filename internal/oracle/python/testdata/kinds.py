"""The smallest functions that show what flowplan once had otherwise than
CPython. oracle_test.go wants every one of them equal."""

import os
import sys
from contextlib import suppress


def group(xs):  # the last test's false also goes on: earlier handlers may have taken all
    try:
        send(xs)
    except* OSError as e:
        send(e)
    except* ValueError:
        pass
    return xs


def dead_copy(a):  # no exception reaches the handler, so none passes through the finally
    try:
        pass
    except OSError:
        raise
    finally:
        a = 1
    return a


def tuple_display(a, b):
    try:
        c = send(a)
        return a, (b, -1), c
    except OSError:
        return None


def tuple_truth(a, b):
    try:
        assert (a, b)
    except AssertionError:
        return None


def unpacked_tuple(a, b):
    try:
        return a, *b
    except TypeError:
        return None


def suppressed_in_finally(d):
    try:
        send(d)
    finally:
        with suppress(KeyError):
            del d["a"]


def suppressed_in_handler(d):
    try:
        send(d)
    finally:
        try:
            send(d)
        except OSError as e:
            with suppress(KeyError):
                del d["a"]


def aligned():
    x = 20
    return f"{x:=10}"


def filtered(xs, ys):
    a = {x: new for x in xs if (new := send(x)) != 0}
    b = {x: new for x in ys if x in a and (new := send(x)) != 0}
    c = [(x, new) for x in ys if x if x in b or (new := x) for y in new if not (y and (new := y))]
    return a, b, c, new


def normalised():
    ｗｉｄｔｈ = 1
    return ｗｉｄｔｈ


def left_of_it(x):
    y = (x + \
  1)
    return y


def lambdas():
    one = lambda: (yield)
    two = (
        lambda: (1, 2)
    )
    three = four = lambda: 3
    return one, two, three, four


try:
    maybe = sys.gettrace
    other = maybe
except NameError:
    other = None


class Names:
    try:
        here = 1
        there = here
    except NameError:
        there = None


# ---- calls that never return


def fail(text):
    raise ValueError(text)


def fail_twice(text):
    fail(text)


def later(n):  # each hangs on the other, and both on a third
    if n:
        ends_too(n)
    fail(n)


def ends_too(n):
    later(n)
    return None


def endless():
    while True:
        send(1)


def leaves():
    os._exit(1)


def forgotten(x):
    raise TypeError(x)


def rebound(x):
    raise TypeError(x)


def decorated(x):
    raise TypeError(x)


def deco(f):
    return f


@deco
def wrapped(x):
    raise TypeError(x)


def generates(x):
    raise TypeError(x)
    yield


async def waits(x):
    raise TypeError(x)


def rebind():
    global rebound
    rebound = print


def calls(x, exit):
    if x == 1:
        fail(x)
    elif x == 2:
        fail_twice(x)
    elif x == 3:
        later(x)
    elif x == 4:
        endless()
    elif x == 5:
        leaves()
    elif x == 6:
        forgotten(x)
    elif x == 7:
        rebound(x)
    elif x == 8:
        wrapped(x)
    elif x == 9:
        generates(x)
    elif x == 10:
        waits(x)
    elif x == 11:
        exit(1)
    elif x == 12:
        quit()
    elif x == 13:
        sys.exit(1)
    elif x == 14:
        os.abort()
    elif x == 15:
        return fail(x)
    else:
        from elsewhere import fail_twice as fail
    return x


def guarded(x):
    try:
        if x:
            fail(x)
        os._exit(1)
    except ValueError:
        x = 2
    finally:
        send(x)
    return x


class Inside:
    def fail(self):
        fail(self)

    def exit(self):
        self.fail()
        exit(1)


def send(x):
    return x


del forgotten
