package python

import (
	"fmt"
	"strings"
	"testing"

	"github.com/benchmint/benchmint/internal/mask/masktest"
)

// classes are some with a constructor and a method each.
func classes(names ...string) string {
	var b strings.Builder
	for _, n := range names {
		fmt.Fprintf(&b, "class %s:\n    def __init__(self): self.x = 1\n    def m(self): return f()\n", n)
	}
	return b.String()
}

func TestMaskLoads(t *testing.T) {
	t.Parallel()
	masktest.Keeps(t, Masker{}, "", map[string][2]string{
		"a_name_that_a_class_gives_up_to_its_object": {
			"-- a.py --\nclass color:\n    def __init__(self): self.x = 1\n    def __call__(self, x): return self.other(x)\n    def other(self, x): return x\n    def never(self): return 1\ncolor = color()\n-- b.py --\nfrom a import color\nX = color(1)\n",
			"color.__init__ color.__call__ color.other",
		},
		"what_a_metaclass_calls_on_its_classes": {
			"-- a.py --\nclass Meta(type):\n    def __setattr__(cls, k, v):\n        super().__setattr__(k, v)\n        cls.update(k)\nclass A(metaclass=Meta):\n    @classmethod\n    def update(cls, k): return k\n    def other(self): return 1\nclass B(A): pass\nclass C:\n    def update(self, k): return k\nB.x = C()\n-- b.py --\nfrom a import Meta\nclass D(metaclass=Meta):\n    @classmethod\n    def update(cls, k): return k\n    def more(self): return 1\nM = Meta('M', (), {})\nM.more()\n-- c.py --\nfrom a import Meta\nclass E(metaclass=Meta):\n    @classmethod\n    def more(cls): return 1\n",
			"Meta.__setattr__ A.update D.update D.more E.more",
		},
		"members_of_an_enumeration_are_its_objects": {
			"-- a.py --\nfrom enum import Enum\nclass Base(Enum): pass\nclass E(Base):\n    ONE = \"one\"\n    def version(self): return f(self)\n    @property\n    def types(self): return g(self)\n    def other(self): return 1\nclass F:\n    ONE = \"one\"\n    def version(self): return 1\ndef f(e): return 1\ndef g(e): return 1\nX = E.ONE.version(), E.ONE.types, F.ONE.version()\n",
			"E.version E.types f g",
		},
		"a_table_of_names_for_texts_that_are_evaluated": {
			"-- a.py --\nclass L:\n    def __init__(self): self.x = 1\nclass K:\n    def __init__(self): self.x = 1\nclass N:\n    def __init__(self): self.x = 1\nTABLE = {\"L\": lambda: part(K, 1), \"K\": L, \"N\": lambda N: N()}\nX = eval(\"K()\", {}, TABLE)\n",
			"L.__init__ K.__init__",
		},
		"a_lambda_in_a_table_that_is_called": {
			"-- a.py --\nclass L:\n    def __init__(self): self.x = 1\nT = {1: lambda: L()}\nU = {1: lambda: f()}\ndef f(): return 1\nT[1]()\n",
			"L.__init__",
		},
		"a_decorator_of_ours_by_a_well_known_name": {
			"-- p/__init__.py --\n-- p/a.py --\nfrom functools import wraps\ndef contextmanager(func):\n    @wraps(func)\n    def helper(*args): return func(*args)\n    return helper\n-- p/d.py --\ndef contextmanager(func):\n    def other(*args): return func(*args)\n    return other\n@contextmanager\ndef h(): return 1\nh()\n-- p/b.py --\nfrom .a import contextmanager\n@contextmanager\ndef f(): return 1\nf()\n-- p/c.py --\nfrom p.e import contextmanager\n@contextmanager\ndef g(): return 1\ng()\n-- p/e.py --\ndef contextmanager(func):\n    def third(*args): return func(*args)\n    return third\n",
			"contextmanager contextmanager.helper f g contextmanager contextmanager.other h contextmanager contextmanager.third",
		},
		"a_loop_over_a_tuple":       {"-- a.py --\n" + classes("A", "B", "C") + "for k in (A, B):\n    k()\n", "A.__init__ B.__init__"},
		"a_loop_over_pairs":         {"-- a.py --\n" + classes("A", "B", "C") + "T = {'a': A, 'b': B}\nfor n, k in T.items():\n    k()\n", "A.__init__ B.__init__"},
		"a_comprehension":           {"-- a.py --\n" + classes("A", "B", "C") + "T = {'a': A, 'b': B}\nmade = {n: k(n) for n, k in T.items()}\n", "A.__init__ B.__init__"},
		"a_name_for_an_element":     {"-- a.py --\n" + classes("A", "B", "C") + "T = [A, B]\ndef pick():\n    k = T[0]\n    return k().m()\npick()\n", "A.__init__ A.m B.__init__ B.m pick"},
		"an_element_on_the_spot":    {"-- a.py --\n" + classes("A", "B", "C") + "T = dict(a=A)\nU = {'a': A}\nU['b'] = B\nU['a']()\n", "A.__init__ B.__init__"},
		"what_get_gives":            {"-- a.py --\n" + classes("A", "B") + "T = {'a': A}\nT.get('a')()\n", "A.__init__"},
		"a_table_of_another_module": {"-- a.py --\nfrom b import T\nimport c\nfor k in T:\n    k()\nfor k in c.T:\n    k()\n-- b.py --\n" + classes("A", "B") + "T = [A]\n-- c.py --\n" + classes("C", "D") + "T = [C]\n", "A.__init__ C.__init__"},
		"a_table_of_a_class": {
			"-- a.py --\n" + classes("A", "B") + "class R:\n    kinds = [A]\n    def __init__(self):\n        for k in self.kinds:\n            self.register(k)\n    def register(self, k): k()\nR()\n",
			"A.__init__ R.__init__ R.register",
		},
		"a_table_that_nothing_calls": {"-- a.py --\n" + classes("A", "B") + "T = [A, B]\nn = len(T)\n", ""},
		"what_is_put_into_a_table": {
			"-- a.py --\n" + classes("A", "B") + "T = []\nT.append(A)\nfor k in T:\n    k()\n", "A.__init__",
		},
		"what_calls_the_classes_of_a_metaclass": {
			"-- a.py --\nclass Meta(type):\n    def __new__(m, *a): return f()\n    def __call__(cls): return g()\nclass Other(type):\n    def __call__(cls): return h()\nclass A(metaclass=Meta): pass\nclass B(metaclass=Other): pass\ndef f(): return 1\ndef g(): return 1\ndef h(): return 1\nB()\n",
			"Meta.__new__ Other.__call__ f h",
		},
		"a_text_that_is_put_together_by_format": {
			"-- a.py --\nclass C:\n    def run(self, n): return getattr(self, 'on_{}'.format(n))()\n    def on_a(self): return 1\n    def off(self): return 1\nC().run('a')\n",
			"C.run C.on_a",
		},
		"a_name_of_any_kind_that_is_given_back": {
			"-- a.py --\nclass C:\n    def value(self, n): return getattr(self, n)\n    def other(self): return 1\nC().value('x')\n",
			"C.value",
		},
		"what_a_function_has_of_the_language": {
			"-- a.py --\nclass C:\n    @property\n    def __doc__(self): return f()\n    @property\n    def note(self): return g()\ndef f(): return 1\ndef g(): return 1\ndef h(): return 1\nc = C()\nx = h.__doc__, h.note\n",
			"C.note g",
		},
		"a_table_of_texts_for_a_function_that_imports": {
			"-- pkg/__init__.py --\nfrom importlib import import_module\nNAMES = {'f': 'pkg.sub.f'}\ndef find(n):\n    m, f = NAMES[n].rsplit('.', 1)\n    return getattr(import_module(m), f)\n-- pkg/sub.py --\ndef f(x): return x + 1\n", "",
		},
		"a_table_that_an_heir_has": {
			"-- a.py --\nclass C:\n    kinds = []\n    def pick(self, n):\n        for k in self.kinds:\n            if k.n == n: return k\n    def make(self, n):\n        k = self.pick(n)\n        return k()\n" + classes("A", "B") + "class D(C):\n    kinds = [A]\nclass E(C):\n    kinds = [B]\nD().make(1)\n",
			"C.pick C.make A.__init__",
		},
		"a_table_of_what_is_not_known": {
			"-- a.py --\n" + classes("A", "B") + "class C:\n    kinds = [A]\n    rest = [B]\ndef run(c, n):\n    for k in c.kinds: k()\n    return len(c.rest)\nrun(C(), 1)\n",
			"A.__init__ run",
		},
		"a_lambda_in_a_table_that_calls_a_method": {
			"-- a.py --\nclass C:\n    T = {1: lambda self: self.one()}\n    U = {1: lambda self: self.two()}\n    def run(self, k): return self.T[k](self)\n    def one(self): return 1\n    def two(self): return 1\nC().run(1)\n",
			"C.run C.one",
		},
		"an_object_that_asks_another_for_what_it_has_not": {
			"-- a.py --\nclass A:\n    def m(self): return 1\n    def n(self): return 1\nclass B:\n    def __init__(self): self.a = A()\n    def __getattr__(self, n): return getattr(self.a, n)\n    def run(self): return self.m()\nclass C:\n    def __getattr__(self, n): return 1\n    def run(self): return self.n()\nB().run()\nC().run()\n",
			"A.m B.__init__ B.__getattr__ B.run C.__getattr__ C.run",
		},
		"a_module_that_makes_its_names_up": {
			"-- pkg/__init__.py --\nfrom . import one, two\nfrom .one import second\none.first()\nsecond()\ntwo.third()\n-- pkg/one.py --\nclass C:\n    def first(self): return 1\n    def second(self): return 1\n    def third(self): return 1\nc = C()\ndef __getattr__(n): return getattr(c, n)\n-- pkg/two.py --\nX = 1\n",
			"C.first C.second __getattr__",
		},
		"a_function_that_is_put_into_a_module": {
			"-- pkg/__init__.py --\nfrom . import one\nimport lib\ndef f(): return 1\ndef g(): return 1\none.f = f\nlib.g = g\nfrom .one import D\nD.h = h\ndef h(): return 1\none.run()\n-- pkg/one.py --\nclass D: pass\ndef f(): return 1\ndef run(): return f()\n",
			"f g f run",
		},
		"a_class_that_its_decorator_calls": {
			"-- a.py --\ndef deco(cls):\n    cls._ready()\n    return cls\n@deco\nclass C:\n    def __init__(self): self.x = 1\n    @classmethod\n    def _ready(cls): cls.x = cls._made()\n    @classmethod\n    def _made(cls): return 1\n    def m(self): return 2\nclass D:\n    @classmethod\n    def _ready(cls): return 3\n",
			"deco C._ready C._made",
		},
		"a_class_that_a_class_of_others_makes": {
			"-- a.py --\nimport lib\nclass P(lib.P):\n    def __init__(self): self.x = 1\n    def __hash__(self): return 1\nclass Q(lib.P):\n    def __init__(self): self.x = 1\nclass S(lib.S):\n    _made = P\nclass T(lib.S):\n    _made = Q\nS._own = S\nP._of = S\nS.of(1)\n",
			"P.__init__ P.__hash__",
		},
		"one_of_two_of_which_one_is_not_known": {
			"-- a.py --\nimport lib\nclass A:\n    def m(self): return 1\nclass B:\n    def m(self): return 1\nk = A if lib.X else lib.pick(B())\nk.m()\nd = A if lib.X else B\nd.n()\n", "B.m",
		},
		"a_display_that_is_handed_to_ours": {
			"-- a.py --\nimport lib\ndef f(): return 1\ndef keep(all): lib.use(all)\ndef start(): keep([f])\nstart()\n", "keep start",
		},
		"a_cast_that_is_given_back": {
			"-- a.py --\nfrom typing import cast\ndef f(): return 1\ndef pick(): return cast(int, f)\npick()()\n", "f pick",
		},
		"what_is_put_into_a_table_by_a_parameter": {
			"-- a.py --\nT = {}\nU = {}\nclass R:\n    def __init__(self): self.all = []\n    def add(self, f, n): self.all.append((n, f))\n    def more(self, f): self.every.append(f)\ndef keep(n, f): T[n.lower()] = f\ndef also(n, f): U[n] = 1, f\ndef f(): return 1\ndef g(): return 1\ndef h(): return 1\ndef i(): return 1\nkeep('f', f)\nalso('g', g)\nr = R()\nr.add(h, 1)\nr.more(i)\n",
			"R.__init__ R.add R.more keep also i",
		},
		"what_is_put_into_a_table_by_a_parameter_and_called": {
			"-- a.py --\nT = {}\nU = {}\nclass R:\n    def __init__(self):\n        self.all = []\n        self.rest = []\n    def add(self, f, n): self.all.append((n, f))\n    def put(self, f): self.rest.append(f)\n    def run(self): return [f() for n, f in self.all]\ndef keep(n, f): T[n.lower()] = f\ndef also(n, f): U[n] = 1, f\ndef f(): return 1\ndef g(): return 1\ndef h(): return 1\ndef i(): return 1\nkeep('f', f)\nalso('g', g)\nr = R()\nr.add(h, 1)\nr.put(i)\n-- b.py --\nimport a\na.T['f']()\na.r.run()\ndef run(k):\n    n, x = a.U[k]\n    return x()\nrun('g')\n",
			"R.__init__ R.add R.put R.run keep also f g h run",
		},
		"what_is_put_into_a_table_that_goes_away": {
			"-- a.py --\nimport lib\nclass R:\n    def __init__(self): self.all = []\n    def add(self, f): self.all.append(f)\nclass S:\n    def __init__(self): self.each = []\n    def add(self, f): self.each.append(f)\nclass Q:\n    def __init__(self): self.rest = []\n    def add(self, f): self.rest.append(f)\ndef f(): return 1\ndef g(): return 1\ndef h(): return 1\nr = R()\nr.add(f)\nlib.use(r.all)\ns = S()\ns.add(g)\ndef every(x): return [one() for one in x.each]\nevery(s)\nq = Q()\nq.add(h)\n",
			"R.__init__ R.add S.__init__ S.add Q.__init__ Q.add f g every",
		},
		"a_name_of_a_table_that_is_no_table": {
			"-- a.py --\nimport lib\nclass R:\n    all = []\n    def __init__(self): self.all = lib.Thing()\n    def add(self, f): self.all.append(f)\ndef f(): return 1\nR().add(f)\n", "R.__init__ R.add f",
		},
		"a_table_of_a_class_by_its_methods": {
			"-- a.py --\nclass R:\n    all = {}\n    @classmethod\n    def add(cls, f, n): cls.all[n] = f\n    @classmethod\n    def run(cls, n): return cls.all[n]()\ndef f(): return 1\nR.add(f, 1)\n", "R.add",
		},
		"a_table_that_is_picked_of_a_table": {
			"-- a.py --\ndef f(): return 1\nT = {1: [f]}\ndef run(k):\n    for one in T.get(k, ()): one()\nrun(1)\n", "f run",
		},
		"a_table_that_is_asked_of_an_object": {
			"-- a.py --\nimport lib\nclass R:\n    def __init__(self): self.all = []\n    def add(self, f): self.all.append(f)\ndef f(): return 1\nr = R()\nr.add(f)\ndef give(x): return lib.use(x.all)\ngive(r)\n", "R.__init__ R.add f give",
		},
		"a_table_of_the_standard_library": {
			"-- a.py --\nfrom collections import defaultdict\nT = defaultdict(list)\ndef keep(n, f): T[n].append(f)\ndef f(): return 1\nkeep('f', f)\n", "keep",
		},
		"a_table_of_ours_by_a_name_of_the_standard_library": {
			"-- pkg/__init__.py --\nfrom .own import deque\nQ = deque()\ndef add(f): Q.append(f)\ndef f(): return 1\nadd(f)\n-- pkg/own.py --\nclass deque:\n    def append(self, f): return f()\n", "add f deque.append",
		},
		"a_name_of_any_kind_where_another_is_asked": {
			"-- a.py --\nclass A:\n    def __init__(self): self.x = 1\n    def m(self): return 1\nclass B:\n    def __init__(self): self.a = A()\n    def __getattr__(self, n): return getattr(self.a, n)\n    def run(self, n):\n        f = getattr(self, n)\n        return f()\nB().run('m')\n", "A.__init__ B.__init__ B.__getattr__ B.run",
		},
		"a_table_of_a_part_of_the_object": {
			"-- a.py --\n" + classes("A", "B") + "class D:\n    kinds = [A]\nclass C:\n    def __init__(self, t): self.t = t\n    def run(self): return self.t.kinds[0]()\nC(D()).run()\n", "A.__init__ C.__init__ C.run",
		},
		"what_a_decorator_has_put_into_a_table": {
			"-- a.py --\nT = {}\ndef keep(n, f): T[n] = f\ndef on(n):\n    def inner(f):\n        keep(n, f)\n        return f\n    return inner\n@on('x')\ndef g(): return 1\nT['x']()\n", "keep on on.inner g",
		},
		"what_a_decorator_has_put_into_the_table_of_an_object": {
			"-- a.py --\nclass R:\n    def __init__(self): self.all = []\n    def add(self, f):\n        self.put(f)\n        return f\n    def put(self, f): self.all.append(f)\nr = R()\n@r.add\ndef g(): return 1\ndef run(x): return x.all[0]()\nrun(r)\n", "R.__init__ R.add R.put g run",
		},
		"a_table_of_nothing_of_an_heir_of_others": {
			"-- a.py --\nimport lib\nclass C(lib.Base):\n    kinds = []\n    def other(self): return 1\nc = C()\nc.kinds[0]()\n", "",
		},
		"a_decorator_that_is_a_parameter": {
			"-- a.py --\ndef two(deco):\n    @deco\n    def inner(): return 1\n    return 1\nx = two(1)\n", "two two.inner",
		},
		"a_private_name_of_any_kind_of_what_a_call_gave": {
			"-- a.py --\ndef make(n):\n    def inner(self): return n\n    return inner\nclass C:\n    _a = make(1)\n    def run(self, n):\n        f = getattr(self, n)\n        return f()\nC().run('a')\n", "make C.run",
		},
		"one_of_a_table_of_tables": {
			"-- a.py --\nfrom collections import defaultdict\nT = defaultdict(list)\nU = {}\ndef keep(n, f): T[n].append(f)\ndef put(n, f): U.setdefault(n, []).append(f)\ndef f(): return 1\ndef g(): return 1\nkeep('f', f)\nput('g', g)\n-- b.py --\nfrom a import T\nfor f in T['f']: f()\n",
			"keep put f",
		},
		"one_of_a_table_that_is_handed_on": {
			"-- a.py --\ndef f(): return 1\ndef g(): return 1\ndef h(): return 1\ndef i(): return 1\nT = {1: f}\nU = {1: (g, 2)}\nV = {1: h}\nW = {1: i}\nX = {1: j}\ndef j(): return 1\nclass C:\n    def __init__(self, k): self.f = V[k]\ndef run(f): return f()\nrun(T[1])\nC(1)\nU[1][0]()\nlen(W[1])\nimport lib\nlib.all.append(X[1])\n",
			"f g h C.__init__ run",
		},
		"what_a_decorator_puts_into_a_table": {
			"-- a.py --\nT = {}\ndef on(name):\n    def inner(f):\n        T[name] = f\n        return f\n    return inner\n-- b.py --\nfrom a import on, T\n@on('x')\ndef f(): return 1\ndef g(): return 1\nfor name, h in T.items():\n    h()\n",
			"on on.inner f",
		},
		"operators_run_where_they_stand": {
			"-- a.py --\nclass A:\n    def __init__(self): self.x = 1\n    def __lt__(self, o): return 1\n    def __add__(self, o): return 2\n    def __hash__(self): return 3\n    def __deepcopy__(self, m): return 4\nx = A() + 1\n",
			"A.__init__ A.__add__ A.__hash__",
		},
		"operators_between_literals_run_nothing_of_ours": {
			"-- a.py --\nclass A:\n    def __init__(self): self.x = 1\n    def __neg__(self): return 1\n    def __pos__(self): return 1\n    def __mul__(self, o): return 2\n    def __add__(self, o): return 3\n    def __mod__(self, o): return 4\nA()\nx = [-1, -.5, 'a' * 2, 'b' + f'{1}']\ny = +x\nz = '%s' % x\n",
			"A.__init__ A.__pos__ A.__add__ A.__mod__",
		},
		"calls_behind_which_are_dunders": {
			"-- a.py --\nimport copy\nclass A:\n    def __init__(self): self.x = 1\n    def __lt__(self, o): return 1\n    def __add__(self, o): return 2\n    def __deepcopy__(self, m): return 4\nx = sorted([A()])\ny = copy.deepcopy(x)\n",
			"A.__init__ A.__lt__ A.__deepcopy__",
		},
		"a_dunder_of_a_library": {"-- a.py --\nclass A:\n    def __init__(self): self.x = 1\n    def __rich__(self): return 1\n    def __post_init__(self): return 1\nA()\n", "A.__init__ A.__post_init__"},
		"methods_of_literals_are_not_ours": {
			"-- a.py --\nclass A:\n    def __init__(self): self.x = 1\n    def get(self): return 1\n    def join(self): return 1\n    def pop(self): return 1\nA()\n" +
				"cache = {}\ndef f(a: str, b: 'unknown', *c, **d):\n    d.get(1)\n    cache.get(1)\n    e = ['x']\n    e.pop()\n    return a.join(c)\nf()\n",
			"A.__init__ f",
		},
		"a_name_that_holds_more_than_literals": {
			"-- a.py --\nclass A:\n    def __init__(self): self.x = 1\n    def get(self): return 1\nA()\ncache = {}\ncache = made_elsewhere()\ncache.get(1)\n",
			"A.__init__ A.get",
		},
		"an_object_that_others_get": {
			"-- a.py --\nimport datetime\nclass Z(datetime.tzinfo):\n    def __init__(self, n): self.n = n\n    def utcoffset(self, d): return self.n\nclass Y(Exception):\n    def __init__(self, n): self.n = n\n    def text(self): return self.n\nclass X(dict):\n    def __init__(self, n): self.n = n\n    def text(self): return self.n\nz = Z(1)\ny = Y(1)\nx = X(1)\ndatetime.datetime.fromtimestamp(0, z)\nwarn(y)\nwarn(x)\n",
			"Z.__init__ Z.utcoffset Y.__init__ X.__init__",
		},
		"a_guard_of_two_conditions": {"-- a.py --\nimport sys\ndef f(): return 1\ndef g(): return 1\ndef h(): return 1\nif sys.x != 1 and __name__ == '__main__':\n    f()\nif sys.x or __name__ == '__main__':\n    g()\nif __name__ == '__main__' and sys.x:\n    h()\n", "g"},
		"a_method_of_ours_by_a_name_that_leaves_alone": {
			"-- a.py --\nclass A:\n    @classmethod\n    def partial(cls, f): f()\n    @classmethod\n    def make(cls): cls.partial(g)\ndef g(): return 1\ndef h(): return 1\nA.make()\n",
			"A.partial A.make g",
		},
		"a_class_that_leaves_what_it_gets": {"-- a.py --\ndef g(): return 1\ndef h(): return 1\nclass A:\n    def __init__(self, f): self.n = len('a')\nclass B:\n    def __init__(self, f): f()\nA(g)\nB(h)\n", "h A.__init__ B.__init__"},
		"a_script_beside_a_package": {
			"-- pkg/__init__.py --\ndef f(): return 1\ndef g(): return 1\ndef h(): return 1\n-- show.py --\nimport pkg\npkg.f()\n-- used.py --\nimport pkg\npkg.g()\n-- tests/test_pkg.py --\nimport pkg, used\n-- some-examples/a.py --\nimport pkg\npkg.h()\n",
			"g",
		},
		"another_name_for_a_function": {
			"-- a.py --\ndef f(): return 1\ndef g(): return 1\ndef h(): return 1\ndef k(): return 1\ndef run(c):\n    x = f\n    y = g if c else h\n    z = None\n    z = k\n    return y()\nrun(1)\n",
			"g h k run",
		},
		"a_name_of_an_object_for_a_function": {
			"-- a.py --\ndef f(): return 1\ndef g(): return 1\nclass C:\n    def __init__(self):\n        self.a = f\n        self.b = g\n    def m(self): return self.b()\nC().m()\n",
			"g C.__init__ C.m",
		},
		"what_runs_with_python_m": {"-- pkg/__init__.py --\ndef f(): return 1\n-- pkg/__main__.py --\nfrom pkg import f\nf()\n", ""},
		"what_a_module_gives_for_a_name": {
			"-- pkg/__init__.py --\nclass C:\n    def __init__(self): self.x = 1\ndef f(): return 1\ndef __getattr__(name):\n    if name == f():\n        return C\n", "f __getattr__",
		},
		"modules_without_a_package": {"-- a.py --\ndef f(): return 1\n-- b.py --\nimport a\na.f()\n", "f"},
		"a_script_that_the_package_imports": {
			"-- pkg/__init__.py --\nimport one\n-- one.py --\nimport two\n-- two.py --\nimport pkg.deep\npkg.deep.f()\n-- pkg/deep.py --\ndef f(): return 1\n", "f",
		},
		"a_namespace_and_a_root": {
			"-- ns/pkg/__init__.py --\ndef f(): return 1\ndef g(): return 1\n-- ns/other.py --\nfrom ns.pkg import f\nf()\n-- src/one.py --\nfrom ns.pkg import g\ng()\n", "f g",
		},
		"a_value_of_a_parameter": {
			"-- a.py --\ndef one(): return 1\ndef two(): return 2\ndef run(f=one): return f()\ndef never(f=two): return f()\nX = run()\n", "one run",
		},
		"what_a_decorator_makes": {
			"-- a.py --\nimport click\n" + classes("Option", "Other") + "def later(): return 1\n@click.option('-a', cls=Option, callback=later)\ndef f(a: Other): return 1\n",
			"Option.__init__",
		},
		"a_display_with_conditions": {
			"-- a.py --\n" + classes("C", "D", "E") + "def run(a, b):\n    for k in [a and C, (b or D)]: k()\nrun(1, 2)\n", "C.__init__ D.__init__ run",
		},
		"a_property_of_ours": {
			"-- a.py --\nclass prop:\n    def __init__(self, f): self.f = f\n    def setter(self, f): return self\n    def other(self): return 1\n" +
				"class C:\n    @prop\n    def x(self): return 1\n    @x.setter\n    def x(self, v): self.v = v\n", "prop.__init__ prop.setter",
		},
		"a_class_that_is_asked_for_its_heirs": {
			"-- a.py --\nimport abc\nclass C(abc.ABC):\n    @classmethod\n    def __subclasshook__(cls, c): return hook(c)\ndef hook(c): return True\nX = isinstance(1, C)\n", "C.__subclasshook__ hook",
		},
		"an_object_that_decorates": {
			"-- a.py --\nclass Deco:\n    def __init__(self, n): self.n = n\n    def __call__(self, f): return f\n    def rest(self): return 1\n@Deco(1)\ndef f(): return 1\n", "Deco.__init__ Deco.__call__",
		},
		"a_property_by_its_name": {
			"-- a.py --\nfrom x import lazy_class_property\nclass C:\n    @lazy_class_property\n    def read(cls): return 1\n    @other\n    def called(cls): return 1\nX = C.read, C.called\n", "C.read",
		},
		"a_name_in_a_text": {
			"-- pkg/__init__.py --\nfrom x import import_string, say\nTABLE = {'a': 'pkg.sub.h'}\nsay('pkg.sub.h')\nimport_string('pkg.sub.f')\nfor name in map(import_string, ['pkg.sub.h']): pass\n" +
				"for x in 'pkg.sub:g', 'other.h', 'pkg.sub.f g', 'pkg.sub.Kind':\n    import_string(['pkg.sub:g', 'other.h', 'pkg.sub.f g', 'pkg.sub.Kind'])\n-- pkg/sub.py --\ndef f(): return 1\ndef g(): return 1\ndef h(): return 1\nclass Kind:\n    def __init__(self): self.x = 1\n", "f g",
		},
		"a_module_that_was_imported_from": {
			"-- pkg/__init__.py --\nfrom .sub import *\nsub.f()\n-- pkg/sub.py --\n__all__ = []\ndef f(): return 1\ndef g(): return 1\n", "f",
		},
		"an_object_that_is_handed_over": {
			"-- a.py --\nfrom itertools import groupby\nclass Key:\n    def __call__(self, x): return same(x)\n    def rest(self): return 1\ndef same(x): return x\nX = list(groupby('ab', key=Key()))\n", "Key.__call__ same",
		},
		"an_importer": {
			"-- a.py --\nimport sys\nclass Finder:\n    def find_spec(self, name, path, target=None): return None\n    def rest(self): return 1\nsys.meta_path.insert(0, Finder())\nclass Loader(Finder):\n    def exec_module(self, m): return 1\n    def rest(self): return 1\nit = Loader()\nsys.path_hooks.append(it)\n", "Finder.find_spec Loader.exec_module",
		},
		"a_property_of_two_functions": {
			"-- a.py --\nclass C:\n    def _get(self): return 1\n    def _set(self, v): self.v = v\n    def rest(self): return 1\n    x = property(_get, _set)\nC().x = 1\n", "C._get C._set",
		},
		"a_part_of_a_call": {
			"-- a.py --\nfrom functools import partial\n" + classes("C") + "def make(): return partial(C)\ndef use():\n    it = make()\n    return it()\nuse()\n",
			"C.__init__ make use",
		},
		"an_object_in_the_place_of_a_module": {
			"-- a.py --\nimport sys\nfrom types import ModuleType\nclass Lazy(ModuleType):\n    def __getattr__(self, name): return find(name)\n    def rest(self): return 1\n" +
				"def find(name): return name\nsys.modules[__name__] = Lazy(__name__)\n",
			"Lazy.__getattr__ find",
		},
		"a_member_of_the_same_name_further_down": {
			"-- a.py --\ndef say(f):\n    def inner(self): return f(self)\n    return inner\nclass C:\n    @say\n    def run(self): return 1\n    def say(self): return 2\n",
			"say C.say",
		},
		"what_a_class_has_of_its_metaclass": {
			"-- a.py --\nclass Sealed(type):\n    def _make(cls): return super().__call__()\nclass C(metaclass=Sealed):\n    def __init__(self): self.x = 1\n    def rest(self): return 1\nC._make()\n",
			"Sealed._make C.__init__",
		},
		"a_class_with_its_arguments": {
			"-- a.py --\nclass Box:\n    @classmethod\n    def make(cls): return helper()\nclass Other:\n    @classmethod\n    def make(cls): return 1\ndef helper(): return 1\nBox[int].make()\nOther()\n",
			"Box.make helper",
		},
		"what_the_locals_hold": {
			"-- a.py --\ndef make():\n    def f(): return 1\n    def g(): return 2\n    return locals().copy()\nfor f in make().values(): f()\n",
			"make make.f make.g",
		},
		"what_the_globals_hold": {
			"-- a.py --\nclass A:\n    def __init__(self): self.x = 1\n    def rest(self): return 1\ndef f(): return 1\nfor name in ('A', 'f'): globals()[name]()\ndef later(): return globals()['g']()\n-- b.py --\nclass B:\n    def __init__(self): self.x = 1\n",
			"A.__init__ f later",
		},
		"a_module_behind_a_value_of_its_name": {
			"-- a/__init__.py --\nfrom a import u\nx = u.b.f()\n-- a/u/__init__.py --\nfrom a.u.b import *\n-- a/u/b.py --\n__all__ = []\nb = make()\ndef make(): return 1\ndef f(): return 1\ndef g(): return 1\n",
			"make f",
		},
		"a_wrapper_of_our_own_name": {
			"-- a.py --\ndef update_wrapper(f, g): return f\ndef decorator(f):\n    def inner(): return f()\n    return update_wrapper(inner, f)\n@decorator\ndef g(): return 1\n",
			"update_wrapper decorator",
		},
		"a_class_for_type_checkers": {
			"-- a.py --\nfrom typing import TYPE_CHECKING\nclass Base:\n    def __init_subclass__(cls): cls.x = f()\nclass Meta(type):\n    def __new__(m, *a): return g()\ndef f(): return 1\ndef g(): return 1\nif TYPE_CHECKING:\n    class Heir(Base, metaclass=Meta): pass\ndef later():\n    class Heir(Base): pass\n",
			"Base.__init_subclass__ Meta.__new__",
		},
		"a_class_in_a_function_that_runs": {
			"-- a.py --\nclass Base:\n    def __init_subclass__(cls): cls.x = f()\ndef f(): return 1\ndef make():\n    class Heir(Base): pass\nmake()\n",
			"Base.__init_subclass__ f make",
		},
		"a_class_as_an_attribute": {
			"-- a.py --\nimport x\n" + classes("Kind", "Other") + "app = x.App()\napp.kind.of = Kind\nother = Other\n", "Kind.__init__",
		},
		"a_class_that_a_library_asks": {
			"-- a.py --\nimport x\nclass C:\n    @classmethod\n    def __get_schema__(cls): return f()\n    def __rich__(self): return 1\ndef f(): return 1\n@x.post\ndef g(c: C): return 1\n", "C.__get_schema__ f",
		},
		"what_is_inside_of_a_function_and_stays_there": {
			"-- a.py --\ndef f(): return g()\ndef g(): return 1\ndef make(a, b):\n    def inner():\n        return b()\n    return inner\nx = make(1, f)\n", "make",
		},
		"what_is_inside_of_a_function_and_called_by_another_name": {
			"-- a.py --\ndef f(): return g()\ndef g(): return 1\ndef make(a, b):\n    def inner():\n        return b()\n    return inner\nx = make(1, f)\n-- b.py --\nfrom a import x\nx()\n",
			"f g make make.inner",
		},
		"what_is_inside_of_a_function_and_goes_away": {
			"-- a.py --\nimport x\ndef h(): return 1\ndef one():\n    def inner(): return h()\n    TABLE['a'] = inner\ndef two():\n    def inner(): return h()\n    x.on(inner)\n" +
				"def three():\n    def inner(): return 1\n    return [inner]\ndef four():\n    def inner(): return 1\n    return inner\ndef five():\n    def inner(): return 1\n    return inner\ndef six():\n    return five()\n" +
				"one()\ntwo()\nx.put(three())\nx.put(four())\ny = six()\n",
			"h one one.inner two two.inner three three.inner four four.inner five six",
		},
		"what_takes_the_place_of_a_function": {
			"-- a.py --\nfrom functools import wraps\ndef deco(f):\n    @wraps(f)\n    def inner(): return h()\n    return inner\ndef h(): return 1\ndef other(n):\n    def with_f(f):\n        def inner(): return 1\n        return wraps(f)(inner)\n    return with_f\n" +
				"@deco\ndef a(): return 1\n@other(1)\ndef b(): return 1\n-- b.py --\nfrom a import deco, other\n@other(1)\ndef run(): return 1\n", "deco other other.with_f",
		},
		"what_takes_the_place_of_a_function_that_runs": {
			"-- a.py --\nfrom functools import wraps\ndef deco(f):\n    @wraps(f)\n    def inner(): return h()\n    return inner\ndef h(): return 1\ndef other(n):\n    def with_f(f):\n        def inner(): return 1\n        return wraps(f)(inner)\n    return with_f\n" +
				"@deco\ndef a(): return 1\n@other(1)\ndef b(): return 1\na()\nb()\n", "deco deco.inner h other other.with_f other.with_f.inner a b",
		},
		"a_parameter_and_what_becomes_of_it": {
			"-- a.py --\n" + "def f1(): return 1\ndef f2(): return 1\ndef f3(): return 1\ndef f4(): return 1\ndef f5(): return 1\ndef f6(): return 1\ndef f7(): return 1\ndef f8(): return 1\ndef f9(): return 1\n" +
				"def asks(f, g=None):\n    if f is None or not g: return isinstance(f, str)\n    f.x = 1\ndef calls(a, f): return f()\ndef hands(f): calls(1, f)\ndef keeps(f): T[1] = f\ndef turns(f):\n    f = f or 1\n    return f()\ndef rest(*f): return f\n" +
				"class C:\n    def __init__(self, f): f()\n    def m(self, f): f()\n    def n(self, f): return f.x\n" +
				"asks(f1)\ncalls(1, f=f2)\nhands(f3)\nkeeps(f4)\nturns(f5)\nrest(f6)\nc = C(f7)\nc.m(f8)\nc.n(f9)\n",
			"f2 f3 f4 f5 f6 f7 f8 asks calls hands keeps turns rest C.__init__ C.m C.n",
		},
		"an_argument_of_ours_by_a_name_of_others": {
			"-- a.py --\n" + classes("Kind", "Other") + "class Registry:\n    def __init__(self): self.all = []\n    def register(self, kind): self.all.append(kind)\nr = Registry()\nr.register(Kind)\nimport x\nx.register(Other)\n",
			"Registry.__init__ Registry.register",
		},
		"a_class_inside_of_a_function": {
			"-- a.py --\ndef make():\n    class C:\n        def __init__(self): self.x = 1\n        def __call__(self): return 1\n        def m(self): return 1\n    return C()\nx = make()\ndef f():\n    class D:\n        def m(self): return 1\n    return 1\nf()\n-- b.py --\nfrom a import make\ny = make()\ny()\n",
			"make make.C.__init__ make.C.__call__ f",
		},
		"a_name_that_is_made_up": {
			"-- a.py --\nclass V:\n    def go(self, n): return getattr(self, 'on_' + n)()\n    def on_a(self): return 1\n    def off(self): return 1\nclass W(V):\n    def on_b(self): return 1\nclass X(V):\n    def on_c(self): return 1\nW().go('b')\n" +
				"class Y:\n    def go(self, n):\n        f = getattr(self, n)\n        return f()\n    def x(self): return 1\n    def _y(self): return 1\nY().go('x')\n",
			"V.go V.on_a W.on_b Y.go Y.x",
		},
		"a_name_that_is_a_value": {
			"-- a.py --\nclass C:\n    @property\n    def p(self): return 1\n    @property\n    def q(self): return 1\n    def m(self): return 1\n    def n(self): return 1\nc = C()\ndef run(x):\n    hasattr(x, 'p')\n    getattr(x, 'm')()\nrun(c)\n", "C.p C.m run",
		},
		"a_module_that_is_handed_to_ours": {
			"-- pkg/__init__.py --\nfrom pkg import one, two\nimport x\ndef take(m): return getattr(m, 'f')()\ntake(one)\nx.take(two)\n-- pkg/one.py --\ndef f(): return 1\ndef _g(): return 1\n-- pkg/two.py --\ndef f(): return 1\n", "take f",
		},
		"what_a_field_begins_with": {
			"-- a.py --\nimport attrs\n" + classes("Part", "Piece") + "@attrs.define\nclass C:\n    part: Part = attrs.field(factory=Part)\n    def __repr__(self): return ''\n@attrs.define\nclass D:\n    piece: Piece = attrs.Factory(Piece)\nD()\n",
			"Piece.__init__",
		},
		"a_class_that_is_picked": {
			"-- a.py --\n" + classes("Kind", "Other") + "def run(o):\n    k = o.get('k') or Kind\n    return k()\nrun({})\n", "Kind.__init__ run",
		},
		"classes_in_a_table_that_goes_away": {
			"-- a.py --\n" + classes("Kind", "Other", "Third") + "def f(): return 1\ndef run(): return {'a': (Kind, f)}\nfor k, v in run().items(): v[0]()\ndef chain(x):\n    for k in list(filter(None, [x and Other])): k(1)\nchain(1)\n", "Kind.__init__ Other.__init__ run chain",
		},
		"a_class_that_is_made_of_others": {
			"-- a.py --\n" + classes("Kind", "Other") + "def run(): return type('K', (Kind,), {})(None)\nrun()\n", "Kind.__init__ run",
		},
		"a_metaclass_that_is_put_on": {
			"-- a.py --\nimport six\nclass Single(type):\n    def __call__(cls): return make(cls)\ndef make(c): return c\n@six.add_metaclass(Single)\nclass C: pass\nx = C()\n", "Single.__call__ make",
		},
		"what_a_decorator_calls": {
			"-- a.py --\ndef once(f): return f()\ndef keep(f):\n    T['a'] = f\n    return f\ndef wrap(f):\n    def inner(): return f()\n    return inner\ndef by(n):\n    def deco(f): return f()\n    return deco\n" +
				"class Run:\n    def __init__(self, n): self.n = n\n    def __call__(self, f): return f()\n" +
				"@once\ndef a(): return 1\n@keep\ndef b(): return 1\n@wrap\ndef c(): return 1\n@wrap\ndef d(): return 1\n@by(1)\ndef e(): return 1\n@Run(1)\ndef f(): return 1\n@once\nclass G:\n    def __init__(self): self.x = 1\n    def rest(self): return 1\n    @keep\n    def more(self): return 1\nc()\n",
			"once keep wrap wrap.inner by by.deco Run.__init__ Run.__call__ a c e f G.__init__",
		},
		"a_table_that_is_handed_to_ours": {
			"-- a.py --\ndef f(): return 1\ndef g(): return 1\nT = {'a': f}\nU = {'a': g}\ndef run(all):\n    for name, one in all.items(): deep(one)\ndef deep(f): f()\ndef keep(all):\n    for name, one in all.items(): X.append(one)\nrun(T)\nkeep(U)\n",
			"f run deep keep",
		},
		"an_import_in_a_function": {
			"-- pkg/__init__.py --\ndef use(): return all([])\ndef other():\n    from pkg.sub import all\n    return all(1)\ndef lazy():\n    global f\n    from pkg.sub import f\ndef late(): return f()\nuse()\nlate()\n-- pkg/sub.py --\ndef all(x): return 1\ndef f(): return 1\n",
			"use late f",
		},
		"an_import_in_a_function_that_runs": {
			"-- pkg/__init__.py --\ndef use():\n    from pkg.sub import all\n    def inner(): return all(1)\n    return inner()\nuse()\n-- pkg/sub.py --\ndef all(x): return 1\ndef f(): return 1\n",
			"use use.inner all",
		},
		"what_nobody_names": {
			"-- a.py --\nimport ply.lex as lex\ndef make():\n    def t_word(t): return t\n    class C:\n        def m(self): return 1\n    return lex.lex()\nmake()\n", "make make.t_word",
		},
		"a_method_that_a_library_brings": {
			"-- a.py --\nimport ast\nclass V(ast.NodeVisitor):\n    def visit_Name(self, n): return n\n    def _rest(self, n): return n\nclass W(ast.NodeVisitor):\n    def visit_Name(self, n): return n\nv = V()\nv.visit(1)\n", "V.visit_Name V._rest",
		},
		"an_array_of_ours": {
			"-- a.py --\nimport numpy\nclass A(numpy.ndarray):\n    def __new__(cls, x): return x\n    def __array_finalize__(self, x): self.x = x\nA(1)\n", "A.__new__ A.__array_finalize__",
		},
		"a_name_that_is_made_up_before": {
			"-- a.py --\nclass C:\n    def on_a(self): return 1\n    def off(self): return 1\ndef run(x, n):\n    name = f'on_{n}'\n    return getattr(x, name)()\nrun(C(), 'a')\ndef any(x, n): return getattr(x, n)()\nany(C(), 'b')\n" +
				"class D:\n    def wrap(self):\n        def inner(self, n): return getattr(self, n)()\n        return inner\n    def rest(self): return 1\nD().wrap()(1, 2)\n", "C.on_a run any D.wrap D.wrap.inner",
		},
		"an_object_of_the_class_that_is_handed_over": {
			"-- a.py --\nimport x\nclass P:\n    @classmethod\n    def patch(cls): x.put(cls())\n    def __call__(self): return 1\n    def rest(self): return 1\nP.patch()\n", "P.patch P.__call__",
		},
		"a_module_by_a_name_that_is_made_up": {
			"-- pkg/__init__.py --\nfrom importlib import import_module\ndef setup(names):\n    for n in names: import_module('pkg.' + n).register(1)\ndef other(x): x.unused()\nsetup(['a'])\nother(1)\n-- pkg/a.py --\ndef register(x): return 1\ndef unused(x): return 1\n", "setup other register",
		},
		"a_part_that_is_given_back": {
			"-- a.py --\nfrom functools import partial\ndef make(f): return partial(f, 1)\ndef g(x): return 1\ndef h(x): return 1\na = make(g)\nb = make(h)\n-- b.py --\nimport a\n", "make",
		},
		"a_table_that_others_fill": {
			"-- p/__init__.py --\nfrom .again import TABLE\nfrom . import fill\nfrom .conv import convert\nconvert(1)\n-- p/again.py --\nfrom .conv import *\nfrom .fill import TABLE\n" +
				"-- p/conv.py --\nTABLE = {}\nOTHER = {}\ndef convert(k):\n    helper = TABLE[k]\n    return helper(k)\n" +
				"-- p/fill.py --\nfrom .again import TABLE\nfrom . import conv\nfrom .conv import OTHER\ndef f(k): return k + 1\ndef g(k): return k + 2\ndef h(k): return k + 3\nTABLE[1] = f\nconv.TABLE[2] = g\nOTHER[1] = h\n", "convert f g",
		},
		"a_class_that_is_put_on_one_of_ours": {
			"-- a.py --\n" + classes("First", "Second") + "class E:\n    def make(self): return self.kind()\n    def hold(self): self.other = Second\nE.kind = First\nE().hold()\n", "E.hold",
		},
		"a_class_that_is_put_on_one_of_ours_and_called": {
			"-- a.py --\n" + classes("First", "Second") + "class E:\n    def make(self): return self.kind()\nE.kind = First\nE().make()\n", "First.__init__ E.make",
		},
		"a_function_inside_of_which_the_decorators_are_known": {
			"-- a.py --\nimport lib\ndef ours(f): return f\ndef one(n):\n    @ours\n    def inner(): return n\n    return inner\ndef two(n):\n    @lib.theirs\n    def inner(): return n\n    return inner\n" +
				"x = one(1)\ny = two(1)\n", "ours one two",
		},
		"a_hook_of_a_module_that_a_call_gives": {
			"-- a.py --\ndef make(n):\n    def inner(name): return n\n    return inner\n__getattr__ = make(1)\nother = make(2)\n", "make make.inner",
		},
		"what_a_module_of_any_name_has_under_a_name": {
			"-- a.py --\nimport importlib\ndef load(name):\n    kind = importlib.import_module('x.' + name).kind\n    return kind()\nload('b')\n-- b.py --\n" + classes("A", "B") + "kind = A\n", "load A.__init__",
		},
		"what_is_given_back_in_parentheses": {
			"-- a.py --\ndef f(): return g()\ndef h(): return g()\ndef i(): return g()\ndef pick(n):\n    return (\n        f if n else\n        h\n    )\ndef other(n): return n or i\npick(1)()\nother(1)()\n", "f h i pick other",
		},
		"one_of_two_functions": {
			"-- a.py --\ndef f(x): return g()\ndef h(x): return g()\ndef i(x): return g()\nd = f if X else h\n@d\ndef k(): return 1\n", "f h",
		},
		"what_may_be_one_of_two_functions": {
			"-- a.py --\ndef f(x): return g()\nclass C:\n    def __init__(self, convert=None): self.convert = convert if convert else cast(T, f)\n    def run(self): return self.convert(1)\nC().run()\n", "f C.__init__ C.run",
		},
		"a_made_up_name_of_what_a_call_gave": {
			"-- a.py --\ndef make(n):\n    def inner(self): return n\n    return inner\nclass C:\n    do_a = make(1)\n    def run(self, n): return getattr(self, 'do_' + n)()\nC().run('a')\n", "make make.inner C.run",
		},
		"cls_that_is_another": {
			"-- a.py --\nclass C:\n    def __init__(self): self.x = 1\n    @classmethod\n    def make(cls, k):\n        if k in T:\n            cls = T[k]\n        return cls()\nclass D(C):\n    def __init__(self): self.x = 2\nT = {1: D}\nC.make(1)\n", "C.__init__ C.make D.__init__",
		},
		"a_class_that_others_get": {
			"-- a.py --\nimport lib\nclass C(lib.Base):\n    def public(self): return 1\n    def _own(self): return 1\nclass D(lib.Base):\n    def public(self): return 1\nclass E:\n    def public(self): return 1\nlib.use(C)\nlib.use(E)\n", "C.public C._own",
		},
		"what_is_added_by_the_name_of_the_method": {
			"-- a.py --\nimport lib\ndef f(): return 1\ndef g(): return 1\nclass C(lib.Group):\n    def __init__(self):\n        self.add_command(f)\n        self.use(g)\nC()\n", "g C.__init__",
		},
		"a_table_that_stands_for_an_argument": {
			"-- a.py --\ndef f(x): return g()\ndef h(x): return g()\nT = (f,)\nU = (h,)\ndef run(x, steps=T):\n    every = steps\n    for s in every: x = s(x)\n    return x\nrun(1)\n", "f run",
		},
		"a_made_up_name_that_is_given_back": {
			"-- a.py --\nclass C:\n    @classmethod\n    def do_a(cls): return 1\n    def other(self): return 1\n    @classmethod\n    def find(cls, n): return getattr(cls, 'do_%s' % n)\nC.find('a')()\n", "C.do_a C.find",
		},
		"a_made_up_name_in_a_table": {
			"-- a.py --\nclass C:\n    T = {}\n    def __init__(self, n):\n        f = getattr(self, 'do_%s' % n)\n        self.T[n] = f\n    def do_a(self): return 1\n    def other(self): return 1\nc = C('a')\n", "C.__init__ C.do_a",
		},
		"a_table_of_a_function_that_is_handed_on": {
			"-- a.py --\nimport lib\ndef f(x): return g()\ndef h(x): return g()\ndef i(x): return g()\ndef run(steps):\n    for s in steps: s(1)\ndef start():\n    table = [f]\n    table += (h,)\n    kept = [i]\n    more = [j]\n    run(table)\n    lib.use(len(kept))\n    lib.all.append(more)\ndef j(x): return g()\nstart()\n", "f h run start",
		},
		"what_is_called_and_may_be_an_object_of_ours": {
			"-- a.py --\nclass C:\n    def __init__(self): self.x = 1\n    def __call__(self): return 1\nclass D:\n    def __call__(self): return 1\nc = C()\ndef by(n): return lambda f: f\n@by(1)\ndef f(): return 1\n", "C.__init__ C.__call__ by",
		},
		"an_object_of_a_function_that_is_handed_to_others": {
			"-- a.py --\nfrom xml.sax import handler, make_parser\nclass C(handler.ContentHandler):\n    def __init__(self, a): self.a = a\n    def characters(self, c): self.c = c + 1\n    def _own(self): return 1\n" +
				"class D(handler.ContentHandler):\n    def characters(self, c): self.c = c + 1\ndef read(f):\n    parser = make_parser()\n    c = C(f)\n    parser.setContentHandler(c)\n    d = D()\n    d.a = 1\nread(1)\n", "C.__init__ C.characters C._own read",
		},
		"a_table_of_texts_where_modules_are_imported_by_name": {
			"-- pkg/__init__.py --\nfrom importlib import import_module\nNAMES = {'f': 'pkg.sub.f'}\ndef find(n):\n    m, f = NAMES[n].rsplit('.', 1)\n    return getattr(import_module(m), f)\nfind('f')(1)\n" +
				"-- pkg/other.py --\nNAMES = {'g': 'pkg.sub.g'}\n-- pkg/sub.py --\ndef f(x): return x + 1\ndef g(x): return x + 1\n", "find f",
		},
		"an_object_of_the_class_that_is_given_back": {
			"-- a.py --\nclass Deco:\n    @classmethod\n    def make(cls, n):\n        self = cls()\n        return self\n    def __call__(self, f): return f\n    def rest(self): return 1\n@Deco.make(1)\ndef f(): return 1\n", "Deco.make Deco.__call__",
		},
		"one_of_a_table_that_is_given_back": {
			"-- a.py --\nclass D:\n    def __init__(self): self.all = {}\n    def register(self, n):\n        def wrapper(f):\n            self.all[n] = f\n            return f\n        return wrapper\n" +
				"    def pick(self, n):\n        all = self.all\n        return all[n]\n    def __call__(self, n):\n        f = self.pick(n)\n        return f(n)\n" +
				"d = D()\ne = D()\n@d.register('a')\ndef a(x): return x\ndef b(x): return x\nd('a')\n", "D.__init__ D.register D.register.wrapper D.pick D.__call__ a",
		},
		"what_comes_after_a_class_among_several": {
			"-- a.py --\nclass A:\n    def __init__(self): super().__init__()\n    def m(self): super().m()\nclass B:\n    def __init__(self): self.x = 1\n    def m(self): return 1\nclass C:\n    def m(self): return 1\nclass D(A, B): pass\nclass E(A, C): pass\nD().m()\n", "A.__init__ A.m B.__init__ B.m",
		},
		"a_decorator_with_and_without_arguments": {
			"-- a.py --\ndef mark(f=None, *, n=1):\n    def deco(f):\n        f.n = n\n        return f\n    return deco if f is None else deco(f)\n@mark\ndef a(): return 1\n@mark(n=2)\ndef b(): return 1\n", "mark mark.deco",
		},
		"a_decorator_that_another_function_makes": {
			"-- a.py --\ndef make(n):\n    def deco(f): return f\n    return deco\ndef by(n): return make(n)\n@by(1)\ndef f(): return 1\n", "make make.deco by",
		},
		"an_object_that_a_function_gives_decorates": {
			"-- a.py --\nclass Deco:\n    def __call__(self, f): return f\n    def rest(self): return 1\ndef deco(n): return Deco()\n@deco(1)\ndef f(): return 1\n", "Deco.__call__ deco",
		},
		"tests_below_a_package": {
			"-- pkg/__init__.py --\ndef f(): return 1\n-- pkg/_tests/helper.py --\nimport pkg\ndef g(): return 1\npkg.f()\n", "",
		},
	})
}
