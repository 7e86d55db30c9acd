"""`page`, `context` and `browser` with Playwright's synchronous API; `await` before a call is ignored.

Every method maps to a verb of the host (crates/browser/src/hands), which is reached over an inherited socket, the only
connection out of the sandbox. The last lines run the code of the caller.
"""
import ast as _ast
import builtins as _builtins
import inspect as _inspect
import json as _json
import os as _os
import re as _re
import threading as _threading

_turn = _threading.Lock()
_from = _to = None
_last = 0


class Error(Exception):
    """Error on the page."""

    @property
    def message(self):
        return str(self)


class TimeoutError(Error, _builtins.TimeoutError):
    """Timeout of a call."""


def _connect():
    global _from, _to
    number = int(_os.environ.pop("BROWSER_FD"))
    _os.set_inheritable(number, False)
    _from = _os.fdopen(number, "rb", closefd=False)
    _to = _os.fdopen(number, "wb", buffering=0, closefd=False)


def _send(message):
    # Lone surrogates are not valid text outside of Python.
    rest = memoryview(_json.dumps(message, ensure_ascii=False).encode("utf-8", "replace") + b"\n")
    while rest:
        rest = rest[_to.write(rest):]


def _ask(verb, **args):
    global _last
    args = {name: value for name, value in args.items() if value is not None}
    with _turn:
        _last += 1
        _send({"call": {"id": _last, "verb": verb, "args": args}})
        line = _from.readline()
    if not line:
        raise Error("the page does not answer")
    answer = _json.loads(line)["answer"]
    page._url = answer["url"]
    if answer.get("error"):
        wrong = answer["error"]
        if wrong["name"] == "TimeoutError":
            raise TimeoutError(wrong["message"])
        raise Error(wrong["message"] if wrong["name"] == "Error" else "%(name)s: %(message)s" % wrong)
    return answer.get("ok")


def _pattern(value):
    if isinstance(value, _re.Pattern):
        return {"re": value.pattern, "flags": "i" if value.flags & _re.I else ""}
    return value


def _code(code):
    # JavaScript that starts like a function is called; everything else is an expression.
    is_function = _re.match(r"\s*(async\b\s*)?(function\b|\([^()]*\)\s*=>|[\w$]+\s*=>)", code) is not None
    return {"code": code, "function": is_function}


def _missing(what, instead):
    def refuse(*_, **__):
        raise Error("%s is not available here: %s" % (what, instead))
    return refuse


class Response:
    """Response of a navigation."""

    def __init__(self, answer):
        self.url, self.status = answer["url"], answer["status"]

    @property
    def ok(self):
        return self.status == 0 or 200 <= self.status < 300


class _Finder:
    _steps = []

    def _found(self, step, options=None):
        options = options or {}
        steps = [*self._steps, {name: value for name, value in step.items() if value is not None}]
        for name, key in (("has_text", "hasText"), ("has_not_text", "hasNotText")):
            if options.get(name) is not None:
                steps.append({key: _pattern(options[name])})
        if options.get("has") is not None:
            steps.append({"has": options["has"]._steps})
        if options.get("visible") is not None:
            steps.append({"visible": options["visible"]})
        return Locator(steps)

    def locator(self, selector, **options):
        return self._found({"css": str(selector)}, options)

    def get_by_role(self, role, name=None, exact=None, level=None, checked=None, include_hidden=None):
        return self._found({"role": role, "name": _pattern(name), "exact": exact, "level": level, "checked": checked,
                            "includeHidden": include_hidden})

    def get_by_text(self, text, exact=None):
        return self._found({"text": _pattern(text), "exact": exact})

    def get_by_label(self, text, exact=None):
        return self._found({"label": _pattern(text), "exact": exact})

    def _get_by(self, attribute, value, exact):
        return self._found({"attribute": attribute, "value": _pattern(value), "exact": exact})

    def get_by_placeholder(self, text, exact=None):
        return self._get_by("placeholder", text, exact)

    def get_by_alt_text(self, text, exact=None):
        return self._get_by("alt", text, exact)

    def get_by_title(self, text, exact=None):
        return self._get_by("title", text, exact)

    def get_by_test_id(self, test_id):
        return self._get_by("data-testid", test_id, True)

    def frame_locator(self, selector):
        return FrameLocator([*self._steps, {"frame": selector}])


class FrameLocator(_Finder):
    """Locator of a frame."""

    def __init__(self, steps):
        self._steps = steps


class Locator(_Finder):
    """Locator of elements, resolved on each use."""

    def __init__(self, steps):
        self._steps = steps

    def _do(self, op, arg=None, timeout=None):
        return _ask("element", steps=self._steps, op=op, arg=arg, timeout=timeout)

    def __repr__(self):
        return "<Locator %s>" % _json.dumps(self._steps)

    @property
    def first(self):
        return self.nth(0)

    @property
    def last(self):
        return self.nth(-1)

    def nth(self, index):
        return Locator([*self._steps, {"nth": index}])

    def filter(self, **options):
        found = self._found({"nth": 0}, options)
        return Locator([*self._steps, *found._steps[len(self._steps) + 1:]])

    def all(self):
        return [self.nth(at) for at in range(self.count())]

    def count(self):
        return self._do("count")

    def click(self, button=None, click_count=None, force=None, timeout=None, **_):
        self._do("click", {"button": button, "count": click_count, "force": force}, timeout)

    def dblclick(self, timeout=None, **_):
        self._do("click", {"count": 2}, timeout)

    def hover(self, timeout=None, **_):
        self._do("hover", {}, timeout)

    def fill(self, value, timeout=None, **_):
        self._do("fill", str(value), timeout)

    def clear(self, timeout=None, **_):
        self.fill("", timeout)

    def type(self, text, timeout=None, **_):
        self._do("type", str(text), timeout)

    press_sequentially = type

    def press(self, key, timeout=None, **_):
        self._do("press", key, timeout)

    def check(self, timeout=None, **_):
        self._do("check", {"checked": True}, timeout)

    def uncheck(self, timeout=None, **_):
        self._do("check", {"checked": False}, timeout)

    def set_checked(self, checked, timeout=None, **_):
        self._do("check", {"checked": bool(checked)}, timeout)

    def select_option(self, value=None, index=None, label=None, timeout=None, **_):
        def many(given, key):
            given = [] if given is None else given if isinstance(given, (list, tuple)) else [given]
            return [each if key is None else {key: each} for each in given]
        return self._do("select", many(value, None) + many(index, "index") + many(label, "label"), timeout)

    def focus(self, timeout=None):
        self._do("focus", None, timeout)

    def blur(self, timeout=None):
        self._do("blur", None, timeout)

    def scroll_into_view_if_needed(self, timeout=None):
        self._do("scroll", None, timeout)

    def text_content(self, timeout=None):
        return self._do("text", None, timeout)

    def inner_text(self, timeout=None):
        return self._do("inner_text", None, timeout)

    def inner_html(self, timeout=None):
        return self._do("html", None, timeout)

    def input_value(self, timeout=None):
        return self._do("value", None, timeout)

    def get_attribute(self, name, timeout=None):
        return self._do("attribute", name, timeout)

    def all_text_contents(self):
        return self._do("texts")

    def all_inner_texts(self):
        return self._do("inner_texts")

    def is_visible(self, **_):
        return self._do("visible")

    def is_hidden(self, **_):
        return self._do("hidden")

    def is_enabled(self, timeout=None):
        return self._do("enabled", None, timeout)

    def is_disabled(self, timeout=None):
        return self._do("disabled", None, timeout)

    def is_editable(self, timeout=None):
        return self._do("editable", None, timeout)

    def is_checked(self, timeout=None):
        return self._do("checked", None, timeout)

    def bounding_box(self, timeout=None):
        return self._do("box", None, timeout)

    def wait_for(self, state="visible", timeout=None):
        self._do("wait", state, timeout)

    def evaluate(self, expression, arg=None, timeout=None):
        return self._do("evaluate", {"code": _as_function(expression), "arg": arg}, timeout)

    def evaluate_all(self, expression, arg=None):
        return self._do("evaluate", {"code": _as_function(expression), "arg": arg, "all": True})

    def screenshot(self, type=None, quality=None, path=None, timeout=None, **_):
        element = {"steps": self._steps, "op": "box"}
        return _picture(_ask("screenshot", type=type, quality=quality, element=element, timeout=timeout), path)

    def query_selector(self, selector):
        found = self.locator(selector)
        return found.first if found.count() else None

    def query_selector_all(self, selector):
        return self.locator(selector).all()


def _as_function(expression):
    return expression if _code(expression)["function"] else "() => (%s\n)" % expression


def _picture(data, path):
    import base64
    picture = base64.b64decode(data)
    if path is not None:
        with open(path, "wb") as file:
            file.write(picture)
    return picture


class Keyboard:
    """The keyboard."""

    def press(self, key, delay=None):
        _ask("keyboard", op="press", text=key, delay=delay)

    def type(self, text, delay=None):
        _ask("keyboard", op="type", text=text, delay=delay)

    def insert_text(self, text):
        _ask("keyboard", op="insert", text=text)

    def down(self, key):
        _ask("keyboard", op="down", text=key)

    def up(self, key):
        _ask("keyboard", op="up", text=key)


class Mouse:
    """The mouse."""

    def move(self, x, y, **_):
        _ask("mouse", op="move", x=x, y=y)

    def click(self, x, y, button=None, click_count=None, **_):
        _ask("mouse", op="click", x=x, y=y, button=button, count=click_count)

    def dblclick(self, x, y, **_):
        _ask("mouse", op="click", x=x, y=y, count=2)

    def down(self, button=None, **_):
        _ask("mouse", op="down", button=button)

    def up(self, button=None, **_):
        _ask("mouse", op="up", button=button)

    def wheel(self, delta_x, delta_y):
        _ask("mouse", op="wheel", x=delta_x, y=delta_y)


class Page(_Finder):
    """The open page."""

    def __init__(self):
        self._steps, self._url = [], None
        self.keyboard, self.mouse = Keyboard(), Mouse()

    @property
    def url(self):
        return _ask("url")

    @property
    def context(self):
        return context

    @property
    def main_frame(self):
        return self

    def goto(self, url, wait_until="load", timeout=None, **_):
        return Response(_ask("goto", url=url, wait=wait_until, timeout=timeout))

    def _moved(self, verb, timeout):
        answer = _ask(verb, timeout=timeout)
        return Response(answer) if answer else None

    def go_back(self, timeout=None, **_):
        return self._moved("back", timeout)

    def go_forward(self, timeout=None, **_):
        return self._moved("forward", timeout)

    def reload(self, timeout=None, **_):
        return self._moved("reload", timeout)

    def title(self):
        return _ask("title")

    def content(self):
        return _ask("content")

    def set_content(self, html, timeout=None, **_):
        _ask("set_content", html=html, timeout=timeout)

    def wait_for_timeout(self, timeout):
        _ask("sleep", ms=timeout, timeout=0)

    def wait_for_load_state(self, state="load", timeout=None):
        _ask("wait_load", state=state, timeout=timeout)

    def wait_for_url(self, url, wait_until="load", timeout=None):
        _ask("wait_url", url=_pattern(url), wait=wait_until, timeout=timeout)

    def wait_for_function(self, expression, arg=None, timeout=None, **_):
        return _ask("wait_function", arg=arg, timeout=timeout, **_code(expression))

    def wait_for_selector(self, selector, state="visible", timeout=None, **_):
        found = self.locator(selector)
        found.wait_for(state, timeout)
        return None if state in ("hidden", "detached") else found.first

    def evaluate(self, expression, arg=None):
        return _ask("evaluate", arg=arg, **_code(expression))

    def query_selector(self, selector):
        found = self.locator(selector)
        return found.first if found.count() else None

    def query_selector_all(self, selector):
        return self.locator(selector).all()

    def eval_on_selector(self, selector, expression, arg=None):
        return self.locator(selector).first.evaluate(expression, arg)

    def eval_on_selector_all(self, selector, expression, arg=None):
        return self.locator(selector).evaluate_all(expression, arg)

    def screenshot(self, full_page=False, type=None, quality=None, path=None, timeout=None, **_):
        return _picture(_ask("screenshot", full_page=full_page, type=type, quality=quality, timeout=timeout), path)

    def set_viewport_size(self, viewport_size):
        _ask("viewport", **viewport_size)

    def snapshot(self, interactive=False):
        return _ask("snapshot", interactive=interactive)

    def bring_to_front(self):
        """No-op: there is only one page."""

    def close(self, **_):
        """No-op: the page outlives the code."""

    def set_default_timeout(self, timeout):
        """No-op: each call has its own timeout."""

    set_default_navigation_timeout = set_default_timeout

    def on(self, event, handler):
        """No-op: events are not supported."""

    route = _missing("page.route", "requests cannot be changed")
    pdf = _missing("page.pdf", "use the action `pdf` of a scrape")
    expect_navigation = _missing("page.expect_navigation", "a click waits for the page that it leads to")


def _of_first(name):
    def act(self, selector, *args, **options):
        return getattr(self.locator(selector).first, name)(*args, **options)
    act.__name__ = name
    return act


for _name in ("click dblclick hover fill type press check uncheck set_checked select_option focus text_content inner_text "
              "inner_html input_value get_attribute is_visible is_hidden is_enabled is_disabled is_editable is_checked").split():
    setattr(Page, _name, _of_first(_name))


class Context:
    """Browser context of the page."""

    @property
    def pages(self):
        return [page]

    def new_page(self):
        page.goto("about:blank")
        return page

    def cookies(self, urls=None):
        return _ask("cookies", urls=[urls] if isinstance(urls, str) else urls)

    def add_cookies(self, cookies):
        _ask("add_cookies", cookies=cookies)

    def clear_cookies(self, **_):
        _ask("clear_cookies")

    def close(self):
        """No-op: the context outlives the code."""


class Browser:
    """Browser of the page."""

    @property
    def contexts(self):
        return [context]

    def new_context(self, **_):
        return context

    def new_page(self, **_):
        return context.new_page()

    def close(self):
        """No-op: the browser outlives the code."""


page, context, browser = Page(), Context(), Browser()


def _text(value):
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    try:
        return _json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError):
        return repr(value)


async def _later(value):
    return await value if _inspect.isawaitable(value) else value


def _now(value):
    if not _inspect.isawaitable(value):
        return value
    import asyncio
    return asyncio.run(_later(value))


class _Awaits(_ast.NodeTransformer):
    """Rewrites `await` in code for the asynchronous API, as all calls here are synchronous."""

    _within = False

    def visit_AsyncFunctionDef(self, node):
        before, self._within = self._within, True
        self.generic_visit(node)
        self._within = before
        return node

    def visit_Await(self, node):
        self.generic_visit(node)
        name = _ast.Name("_later" if self._within else "_now", _ast.Load())
        call = _ast.copy_location(_ast.Call(name, [node.value], []), node)
        return _ast.copy_location(_ast.Await(call), node) if self._within else call


def _run(path):
    """Runs the code; the value of its last expression is the result."""
    import linecache
    import sys
    import traceback
    _connect()
    with open(path, encoding="utf-8") as file:
        code = file.read()
    linecache.cache["code.py"] = (len(code), None, code.splitlines(True), "code.py")
    names = {"__name__": "__main__", "page": page, "context": context, "browser": browser, "_now": _now, "_later": _later}
    done, status = {}, 0
    try:
        tree = _ast.fix_missing_locations(_Awaits().visit(_ast.parse(code, "code.py")))
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], _ast.Expr) else None
        exec(compile(tree, "code.py", "exec"), names)
        if last is not None:
            value = eval(compile(_ast.Expression(last.value), "code.py", "eval"), names)
            done["result"] = _text(value)[:1 << 20]
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
        if end.code is not None and not isinstance(end.code, int):
            print(end.code, file=sys.stderr)
    except BaseException as error:
        status = 1
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == "code.py"]
        number = error.lineno if isinstance(error, SyntaxError) else lines[-1] if lines else None
        text = "%s: %s" % (type(error).__name__, error)
        if isinstance(error, ModuleNotFoundError) and (error.name or "").startswith(("playwright", "selenium")):
            text += "; the page is open already: use `page`, `context` and `browser`"
        done["error"] = text if number is None or isinstance(error, SyntaxError) else "%s (line %d)" % (text, number)
        report = traceback.TracebackException.from_exception(error)
        report.stack = traceback.StackSummary.from_list([frame for frame in report.stack if frame.filename == "code.py"])
        sys.stderr.write("".join(report.format()))
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            pass
    _send({"done": done})
    _os._exit(status & 255)
