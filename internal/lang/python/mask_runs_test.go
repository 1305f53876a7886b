package python

import (
	"testing"

	"github.com/benchmint/benchmint/internal/mask/masktest"
)

// What runs under a name that it has from elsewhere.
func TestMaskRuns(t *testing.T) {
	t.Parallel()
	masktest.Keeps(t, Masker{}, "", map[string][2]string{
		"a_name_for_an_element_inside_of_a_condition": {
			"-- a.py --\n" + classes("A", "B", "C") + "T = {1: A, 2: B}\ndef pick(k):\n    if made := T[k]:\n        return made()\npick(1)\n",
			"A.__init__ B.__init__ pick",
		},
		"a_property_under_two_names": {
			"-- a.py --\nclass A:\n    def __init__(self): self.x = 1\n    @property\n    def p(self): return self.f()\n    q = p\n    @property\n    def r(self): return 2\n    s = r\n    def f(self): return 3\nA().s\n",
			"A.__init__ A.r",
		},
		"a_filter_of_what_is_logged": {
			"-- a.py --\nimport logging\nLOG = logging.getLogger()\nclass Only:\n    def filter(self, record): return 1\n    def rest(self): return 2\nLOG.addFilter(Only())\nLOG.error('x')\n",
			"Only.filter",
		},
		"what_others_made": {
			"-- a.py --\nimport re, logging, threading\nRE = re.compile('x')\nLOG = logging.getLogger()\nLOCK = threading.Lock()\nclass A:\n    def __init__(self): self.lock = threading.RLock()\n    def match(self, x): return 1\n    def info(self, x): return 2\n    def acquire(self): return 3\n    def search(self, x): return 4\ndef f():\n    log = logging.getLogger('x')\n    log.info('y')\n    A().lock.acquire()\nRE.match('x')\nLOG.info('x')\nLOCK.acquire()\nf()\n",
			"A.__init__ f",
		},
		"what_a_module_of_the_tree_made_under_such_a_name": {
			"-- re.py --\nclass Pattern:\n    def match(self, x): return 1\n    def search(self, x): return 2\n    def sub(self, x): return 3\ndef compile(x): return Pattern()\n-- a.py --\nimport re\nRE = re.compile('x')\nRE.match('x')\ndef f():\n    r = re.compile('y')\n    r.search('x')\nf()\n",
			"f Pattern.match Pattern.search compile",
		},
		"and_a_class_of_one_of_its_modules": {
			"-- p/__init__.py --\nfrom p import threading\nLOCK = threading.Lock()\nLOCK.acquire()\n-- p/threading.py --\nclass Lock:\n    def acquire(self): return 1\n    def release(self): return 2\n",
			"Lock.acquire",
		},
		"one_of_two_that_is_called_on_the_spot": {
			"-- a.py --\n" + classes("A", "B", "C") + "def f(x): return x + 1\ndef g(x): return x + 2\ndef h(x): return x\ndef make(k=None):\n    return (k or A)()\nmake()\n(f if make else (g or None))(1)\n",
			"A.__init__ f g make",
		},
		"a_decorator_that_is_a_method_of_what_is_made_there": {
			"-- a.py --\nclass Trap:\n    def __init__(self, x): self.x = x\n    def passes(self, f): return f\n    def other(self): return 1\n@Trap(1).passes\ndef f(x): return x + 1\n",
			"Trap.__init__ Trap.passes",
		},
		"names_that_get_their_values_together": {
			"-- a.py --\nclass T:\n    def __init__(self): self.x = 1\n    def f(self): return self.h()\n    def g(self): return 1\n    def h(self): return 2\nt = T()\nf, g = (t.f, t.g)\nf()\n-- b.py --\n" + classes("A", "B") + "def make():\n    a, b = A(), B()\n    a.m()\nmake()\ndef f(): return 1\n",
			"T.__init__ T.f T.h A.__init__ A.m B.__init__ make f",
		},
		"what_a_descriptor_gives": {
			"-- a.py --\nclass D:\n    def __get__(self, x, of): return E()\nclass E:\n    def __init__(self): self.x = 1\n    def f(self): return g()\n    def other(self): return 1\ndef g(): return 1\nclass C:\n    d = D()\n    def __init__(self): self.d.f()\nC()\n",
			"D.__get__ E.__init__ E.f g C.__init__",
		},
		"a_decorator_of_a_class_for_its_own_methods": {
			"-- a.py --\nclass T:\n    def multi(f):\n        def inner(self, x): return f(self, x)\n        return inner\n    @multi\n    def g(self, x): return x + 1\n    @multi\n    def h(self, x): return x + 2\nT().g(1)\n",
			"T.multi T.multi.inner T.g",
		},
		"properties_on_the_way_to_a_name": {
			"-- a.py --\nclass C:\n    @property\n    def p(self): return D()\n    @property\n    def q(self): return 1\nclass D:\n    def __init__(self): self.x = 1\n    def m(self): return 1\ndef f(x): return x.y.p.m()\nf(C())\n",
			"C.p D.__init__ D.m f",
		},
		"a_name_of_a_class_that_begins_so_and_stands_for_a_function": {
			"-- a.py --\ndef f(x): return x + 1\ndef g(x): return x + 2\nclass C:\n    make_a = staticmethod(f)\n    other_a = staticmethod(g)\n    @classmethod\n    def make(cls, n): return getattr(cls, 'make_' + n)\nC.make('a')(1)\n-- b.py --\ndef h(x): return x + 1\nclass D:\n    h = staticmethod(h)\nD.h(1)\n",
			"f C.make h",
		},
		"a_table_with_more_behind_it": {
			"-- a.py --\ndef f(x): return x + 1\ndef g(x): return x + 2\ndef h(x): return x\nT = (f,)\ndef run(all):\n    for one in all: one(1)\ndef start():\n    all = T\n    all += (g,)\n    run(all)\nstart()\n",
			"f g run start",
		},
		"one_of_two_methods_in_parentheses": {
			"-- a.py --\nclass C:\n    def f(self): return 1\n    def g(self): return 2\n    def h(self): return 3\n    def run(self, x):\n        m = (self.f if x else self.g)\n        m()\nC().run(1)\n",
			"C.f C.g C.run",
		},
		"what_there_is_where_a_name_that_is_put_together_is_not": {
			"-- a.py --\nclass C:\n    def run(self, n):\n        m = getattr(self, 'on_' + n, self.default)\n        m()\n    def default(self): return 1\n    def on_a(self): return 1\n    def other(self): return 1\nC().run('b')\n",
			"C.run C.default C.on_a",
		},
		"a_name_that_is_a_text_in_a_variable": {
			"-- a.py --\nclass C:\n    def on(self): return 1\n    def off(self): return 1\n    def up(self): return 1\ndef run(x):\n    m = getattr(x, 'on')\n    m()\n    getattr(x, 'up')()\nrun(C())\n",
			"C.on C.up run",
		},
		"a_module_that_was_imported_by_its_name": {
			"-- p/__init__.py --\nimport sys\ndef find(n): __import__(n)\ndef start(n):\n    find(n)\n    m = sys.modules[n]\n    m.load()\nstart('p.x')\n-- p/x.py --\ndef load(): return 1\ndef other(): return 1\n-- p/y.py --\nimport sys\nsys.modules[__name__].other()\n",
			"find start load",
		},
		"an_object_that_a_cast_says_it_is": {
			"-- a.py --\nfrom typing import cast\nclass C:\n    def f(self): return 1\n    def g(self): return 2\n    def h(self): return 3\nclass Meta(type):\n    def __new__(m, n, b, d):\n        d['ONE'] = C()\n        return super().__new__(m, n, b, d)\nclass Codes(metaclass=Meta):\n    ONE = cast(C, 1)\n    TWO = cast('C', 2)\nCodes.ONE.f()\nCodes.TWO.g()\n",
			"C.f C.g Meta.__new__",
		},
		"what_an_object_has_under_a_name_may_be_another": {
			"-- a.py --\nclass None_:\n    def f(self): return 1\nclass Some:\n    def f(self): return self.g()\n    def g(self): return 1\n    def h(self): return 1\nclass C:\n    def __init__(self): self.x = None_()\n    def put(self, x): self.x = x\n    def run(self): self.x.f()\nc = C()\nc.put(Some())\nc.run()\n",
			"None_.f Some.f Some.g C.__init__ C.put C.run",
		},
		"what_the_language_calls_by_another_name": {
			"-- a.py --\nclass C:\n    def full(self): return self.f()\n    __bool__ = full\n    def add(self, x): return x\n    __add__ = add\n    def f(self): return 1\nx = not C()\n",
			"C.full C.f",
		},
		"an_object_of_a_class_that_is_called": {
			"-- a.py --\nclass F:\n    def __call__(self): return 1\n    def other(self): return 1\nclass C:\n    f = F()\ndef run(x): x.f()\nrun(C())\n",
			"F.__call__ run",
		},
		"a_module_that_takes_the_place_of_another": {
			"-- p/__init__.py --\n-- p/m/__init__.py --\nimport sys\nfrom p.m import _m as m\nsys.modules['p.m'] = m\n-- p/m/_m.py --\ndef f(): return 1\ndef g(): return 1\n-- p/a.py --\nfrom p import m\nm.f()\n",
			"f",
		},
		"what_is_asked_of_the_heirs_of_a_class": {
			"-- a.py --\nclass A:\n    @classmethod\n    def name(cls): return 1\n    def other(self): return 1\nclass B(A):\n    @classmethod\n    def name(cls): return 2\n    def other(self): return 2\nclass C:\n    @classmethod\n    def name(cls): return 3\ndef heirs(of):\n    all = [of]\n    for one in all: all.extend(one.__subclasses__())\n    return all\nX = {one.name(): one for one in heirs(A)}\n",
			"A.name B.name heirs",
		},
		"a_parameter_that_gets_what_it_gives": {
			"-- a.py --\ndef make(f):\n    if f: f = f()\n    return f\ndef keep(f):\n    global X\n    X = f\n    f = 1\n    return f\n@make\ndef a(): return 1\n@keep\ndef b(): return 2\n",
			"make keep a",
		},
		"a_parameter_that_is_called_with_another": {
			"-- a.py --\nclass C:\n    def __init__(self, f): self.x = f()\ndef made(by):\n    def deco(f):\n        by(f)\n        return f\n    return deco\n@made(C)\ndef a(): return 1\ndef b(): return 2\n",
			"C.__init__ made made.deco a",
		},
		"a_field_that_is_made_elsewhere": {
			"-- a.py --\nfrom dataclasses import dataclass, field\nclass R:\n    def f(self): return 1\nclass S(R):\n    def f(self): return 2\n    def g(self): return 3\n@dataclass\nclass C:\n    r: R = field(default_factory=S)\n    def __post_init__(self): self.r.f()\nC()\n",
			"S.f C.__post_init__",
		},
		"functions_that_are_called_by_the_name_of_the_first": {
			"-- a.py --\nfrom functools import singledispatch\n@singledispatch\ndef f(x): return 1\n@f.register(str)\ndef _(x): return 2\n@f.register\ndef g(x: int): return 3\n@singledispatch\ndef h(x): return 4\n@h.register(str)\ndef k(x): return 5\nf('x')\n",
			"f _ g",
		},
		"a_metaclass_that_inherits_from_one_of_others": {
			"-- a.py --\nfrom lib import Meta\nclass M(Meta):\n    def __register__(cls): return f()\n    def more(cls): return 1\nclass N(type):\n    def __register__(cls): return 1\nclass C(metaclass=M): pass\nclass D(metaclass=N): pass\ndef f(): return 1\n",
			"M.__register__ M.more f",
		},
		"as_many_arguments_as_a_function_takes": {
			"-- a.py --\nfrom lib import other\nclass A:\n    def f(self, x, y): return x + y\n    def g(self, x=1): return x\n    def h(self, *, k): return k\n    def i(self, x, y): return 1\n    @other\n    def j(self, x, y): return 1\n    @staticmethod\n    def k(x): return 1\n    def l(self, **kw): return kw\n    def m(self, x, /, y): return 1\n    def n(self): return 1\n    @classmethod\n    def o(cls, x): return 1\n    def p(self, x): return 1\nclass B:\n    def f(self, *all): return all\n    def n(self, x, y): return 1\n    def p(self, x): return 2\ndef run(x, all):\n    x.f(1)\n    x.g()\n    x.h(k=1)\n    x.i(*all)\n    x.j()\n    x.k(1)\n    x.l(a=1)\n    x.m(1, y=2)\n    x.n(y=1)\n    x.n(1, 2, 3)\n    x.o(1)\n    x.p()\nrun(A(), (1, 2))\nrun(B(), ())\n",
			"A.g A.h A.i A.j A.k A.l A.m A.n A.o B.f B.n run",
		},
		"functions_that_compiled_code_calls": {
			"-- p/__init__.py --\nfrom . import _core\n-- p/_in.py --\ndef f(): return h()\ndef g(): return 1\ndef h(): return 1\nclass C:\n    def k(self): return 1\n-- p/other.py --\ndef f(): return 1\n-- p/_core.c --\nstatic int start(void) { call(\"p._in\", \"f\"); say(\"g of p._in\"); h(); call(\"p._in\", \"k\"); }\n-- p/more.c --\nint more(void) { call(\"p.other\", \"g\"); }\n",
			"f h",
		},
		"what_a_text_calls_that_is_run": {
			"-- a.py --\nclass C:\n    def make(n): return f(n)\n    def other(n): return n\n    for n in ('a', 'b'):\n        exec(n + ' = make(n)')\n    say = 'other(n)'\ndef f(x): return x\n",
			"C.make f",
		},
		"what_an_interface_is_given_for": {
			"-- a.py --\nfrom zope.interface import Interface, implementer\nclass I(Interface):\n    def m(x):\n        \"\"\"Says.\"\"\"\nclass J:\n    def n(self): return 1\n@implementer(I)\nclass A:\n    def m(self, x): return x\n    def n(self): return 1\nX = I(1, A()).m(2)\nY = J().n()\n",
			"I.m J.n A.m",
		},
		"what_stands_behind_a_comment_in_parentheses": {
			"-- a.py --\ndef f(x): return x + 1\ndef g(x): return x + 2\ndef h(x): return x\nX = (\n    # one\n    f(1)\n)\nY = (\n    # one\n    g(1) if X else\n    # none\n    None\n)\n",
			"f g",
		},
		"a_module_by_a_word_that_other_languages_have": {
			"-- p/__init__.py --\n-- p/base.py --\ndef deco(f): return f\ndef other(f): return f\n-- p/a.py --\nfrom p import base\nclass C:\n    @base.deco\n    def m(self): return 1\n",
			"deco",
		},
		"what_a_class_of_others_gets_from_far": {
			"-- a.py --\nimport logging\ndef f(self, n): return n\ndef g(self, n): return 1\nlogging.Logger.isEnabledFor = f\n",
			"f",
		},
		"an_object_or_nothing": {
			"-- a.py --\nimport logging, os\nclass Kept(logging.Handler):\n    def emit(self, r): return 1\nclass Rest(logging.Handler):\n    def emit(self, r): return 1\none = Kept() if 'X' in os.environ else None\nlogging.root.addHandler(one)\n",
			"Kept.emit",
		},
		"a_name_for_a_method_of_what_is_not_known": {
			"-- a.py --\nclass A:\n    def text(self, x): return 1\n    def more(self, x): return 1\n    def rest(self, x): return 1\ndef make(): return A()\none = make()\nT, more = one.text, one.more\nX = T('x')\n",
			"A.text make",
		},
		"an_object_without_its_constructor": {
			"-- a.py --\nclass A:\n    def __hash__(self): return 1\n    @classmethod\n    def load(cls, x):\n        a = cls.__new__(cls)\n        return a.fill(x)\n    def fill(self, x): return x\n    def other(self, x): return x\nclass B:\n    def fill(self, x): return x\ndef make(): return object.__new__(C).ready()\nclass C:\n    def __eq__(self, o): return 1\n    def ready(self): return 1\nA.load(1)\nmake()\nB()\n",
			"A.__hash__ A.load A.fill make C.__eq__ C.ready",
		},
		"an_object_of_an_heir_without_its_constructor": {
			"-- a.py --\nclass A:\n    def __hash__(self): return 1\n    @classmethod\n    def load(cls, x): return cls.__new__(cls)\nclass B(A):\n    def __hash__(self): return 2\n    def rest(self): return 3\nclass C(A):\n    def __hash__(self): return 4\nclass D:\n    def __eq__(self, o): return 5\n    @classmethod\n    def make(cls): return cls()\nclass E(D):\n    def __eq__(self, o): return 6\nclass F(D):\n    def __eq__(self, o): return 7\nB.load(1)\nE.make()\n",
			"A.__hash__ A.load B.__hash__ D.__eq__ D.make E.__eq__",
		},
		"what_a_table_gives_where_it_has_nothing": {
			"-- a.py --\nimport collections\ndef f(a): return 1\ndef g(a): return 1\nT = collections.defaultdict(lambda: f)\nclass A:\n    def __init__(self): self.x = 1\n    def __mul__(self, o): return T[o](o)\nA() * 2\n",
			"f A.__init__ A.__mul__",
		},
		"a_table_that_a_function_makes_of_another": {
			"-- a.py --\ndef f(a): return 1\ndef g(a): return 1\ndef both(a, b): return {**a, **b}\nT = both({}, {1: f})\nU = both({}, {1: g})\ndef run(x):\n    T[x] = found = T[1]\n    return found(x)\nrun(1)\n",
			"f both run",
		},
		"one_of_a_table_that_is_called_where_it_stands": {
			"-- a.py --\ndef f(a): return 1\ndef g(a): return 1\ndef h(a): return 1\ndef rest(a): return 1\ndef run(x, t):\n    own = {1: f}\n    other = {1: rest}\n    {1: g, 2: h}[x](1)\n    return own[x](t[x](1))\nrun(1, {1: len})\n",
			"f g h run",
		},
		"a_container_that_calls_what_it_inherits_from": {
			"-- a.py --\nclass Base:\n    def __init__(self, *all): self.x = 1\n    def rest(self): return 1\nclass L(Base, list):\n    def __init__(self, *all):\n        super().__init__(*all)\n    def insert(self, at, of): return super().insert(at, of)\nL(1)\n",
			"Base.__init__ L.__init__",
		},
		"a_table_that_others_get": {
			"-- a.py --\nfrom lib import parse\nfrom b import own\ndef f(a): return 1\ndef g(a): return 1\ndef h(a): return 1\nT = (f,)\nU = (g,)\nV = (h,)\ndef run(x):\n    try:\n        x = parse(x, steps=T)\n    except Exception:\n        raise\n    own(U)\n    len(V)\nrun(1)\n-- b.py --\ndef own(x): return x\n",
			"f run own",
		},
		"texts_of_all_of_a_list": {
			"-- a.py --\nclass A:\n    def __init__(self): self.x = 1\n    def __str__(self): return 'x'\n    def __repr__(self): return 'y'\nX = ' '.join(map(str, [A()]))\n",
			"A.__init__ A.__str__",
		},
		"an_attribute_of_the_class_by_a_decorator_of_others": {
			"-- a.py --\nimport functools\nfrom lib import declared, validator, thing\nclass A:\n    @functools.cache\n    def all(cls): return f()\n    @declared.directive\n    def name(cls): return f()\n    @validator('x')\n    def check(cls, v): return v\n    @thing\n    def of(self): return 1\n    @classmethod\n    @thing\n    def own(cls): return 1\ndef f(): return 1\n",
			"A.name f",
		},
		"an_object_in_the_place_of_a_module": {
			"-- p/__init__.py --\nfrom . import m, n\nX = m.ready\nn.go()\n-- p/m.py --\nimport sys, types\nclass M(types.ModuleType):\n    @property\n    def ready(self): return 1\n    @property\n    def other(self): return 1\nsys.modules[__name__] = M('m')\n-- p/n.py --\nimport sys\nclass N:\n    def go(self): return 1\n    def other(self): return 1\nsys.modules[__name__].__class__ = N\n",
			"M.ready N.go",
		},
		"an_object_that_stands_for_a_module_of_its_name": {
			"-- p/__init__.py --\nimport sys\nclass Later:\n    def __init__(self, n): self.n = n\n    def __getattr__(self, a): return getattr(sys.modules[self.n], a)\nclock = Later('p.clock')\n-- p/clock.py --\ndef get(): return 1\ndef other(): return 1\n-- p/a.py --\nfrom p import clock\nX = clock.get()\n",
			"Later.__init__ Later.__getattr__ get",
		},
		"a_package_that_has_its_names_found_by_others": {
			"-- p/__init__.py --\nimport lib\n(__getattr__, __dir__, __all__) = lib.attach_stub(__name__, __file__)\n-- p/deep/__init__.py --\nimport lib\n(__getattr__, __dir__, __all__) = lib.attach_stub(__name__, __file__)\n-- p/deep/one.py --\ndef f(): return 1\ndef g(): return 1\ndef more(): return 1\n-- p/q.py --\nfrom p import f\nfrom .deep import more\nX = f(), more()\n",
			"f more",
		},
		"all_that_an_object_has_is_looked_at": {
			"-- a.py --\nclass A:\n    @property\n    def p(self): return f()\n    def m(self): return 1\nclass B:\n    @property\n    def p(self): return 1\nclass Car:\n    @property\n    def q(self): return 1\ndef f(): return 1\ndef kinds(of):\n    return {k: type(getattr(of, k, None)) for k in dir(of)}\ndef run(of):\n    for k in dir(of): getattr(of, k)\nx = A()\nkinds(x)\ny = Car()\nrun(y)\n",
			"A.p Car.q f kinds run",
		},
	})
}
