package mask_test

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/lang/golang"
	"github.com/benchmint/benchmint/internal/lang/java"
	"github.com/benchmint/benchmint/internal/lang/javascript"
	"github.com/benchmint/benchmint/internal/lang/php"
	"github.com/benchmint/benchmint/internal/lang/python"
	"github.com/benchmint/benchmint/internal/lang/ruby"
	"github.com/benchmint/benchmint/internal/lang/rust"
	"github.com/benchmint/benchmint/internal/lang/typescript"
	"github.com/benchmint/benchmint/internal/mask"
)

// What tells the compiler to refuse what a mask leaves is softened where it stands in no
// code, said, and undone.
func TestSettings(t *testing.T) {
	t.Parallel()
	src, out := source(t, "-- Cargo.toml --\n[lints.rust]\nunused = \"deny\"\n-- b/Cargo.toml --\n[package]\n-- vendor/b/Cargo.toml --\n[lints.rust]\nunused = \"deny\"\n-- src/lib.rs --\npub fn f(x: u8) -> u8 { x }\n"), filepath.Join(t.TempDir(), "out")
	_, m := starter(t, mask.Options{Source: src, Output: out, Languages: []mask.Language{rust.Masker{}}})
	if d := cmp.Diff("[lints.rust]\nunused = \"warn\"\n", read(t, filepath.Join(out, "Cargo.toml"))); d != "" {
		t.Error(d)
	}
	var repairs []int
	for _, f := range m.Files {
		repairs = append(repairs, len(f.Repairs))
	}
	if d := cmp.Diff([]int{1, 0, 0, 0}, repairs); d != "" || m.Totals.Changed != 2 {
		t.Errorf("%d files changed, repairs: %s", m.Totals.Changed, d)
	}
	undoes(t, src, out)
}

// What is loaded is the same for all languages, but for what each says of itself.
func TestClosureByLanguage(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ tree, want string }{
		"programs_beside_load_nothing": {
			"-- lib/a.js --\nexport function f() { return 1; }\nexport function g() { return 1; }\n" +
				"-- examples/a.js --\nimport { f } from '../lib/a.js';\nfunction show() { return f(); }\nshow();\n" +
				"-- perf-testing/a.js --\nimport { g } from '../lib/a.js';\ng();\n",
			"examples/a.js show: masked\nlib/a.js f: masked\nlib/a.js g: masked\n",
		},
		"what_compiled_code_calls": {
			"-- p/__init__.py --\n-- p/a.py --\ndef f():\n    return g()\ndef g():\n    return 1\ndef h():\n    return 2\n-- p/b.c --\nvoid b(void) { run(\"p.a\", \"f\"); }\n",
			"p/a.py f: kept, runs when p/a.py:1 is loaded\np/a.py g: kept, runs when p/a.py:1 is loaded\np/a.py h: masked\n",
		},
		"unless_names_are_found_there": {
			"-- lib/a/example.rb --\ndef f; 1; end\nf\n-- examples/lib/a.rb --\ndef g; 1; end\ng\n",
			"examples/lib/a.rb g: masked\nlib/a/example.rb f: kept, runs when lib/a/example.rb:2 is loaded\n",
		},
		"unless_they_are_imported": {
			"-- lib/a.js --\nimport { made } from '../samples/a.js';\nexport function f() { return made; }\n" +
				"-- samples/a.js --\nimport { g } from './b.js';\nexport function make() { return g(); }\nexport const made = make();\n" +
				"-- samples/b.js --\nexport function g() { return 1; }\nexport function h() { return 1; }\n",
			"lib/a.js f: masked\nsamples/a.js make: kept, runs when samples/a.js:3 is loaded\n" +
				"samples/b.js g: kept, runs when samples/a.js:3 is loaded, by make\nsamples/b.js h: masked\n",
		},
		"a_class_that_is_named_is_asked_for_what_it_answers_itself": {
			"-- lib/a.rb --\nclass A\n  def self.apply; 1; end\n  class << self\n    def apply!; 1; end\n  end\n  def apply?; 1; end\nend\n" +
				"class B\n  def self.apply; 1; end\nend\ndef use(m)\n  m.apply\n  m.apply!\n  m.apply?\n  m.is_a?(B)\nrescue B\n  1\nend\nuse(A)\n",
			"lib/a.rb A.apply: kept, runs when lib/a.rb:19 is loaded, by use\nlib/a.rb A.apply!: kept, runs when lib/a.rb:19 is loaded, by use\nlib/a.rb A.apply?: masked\n" +
				"lib/a.rb B.apply: masked\nlib/a.rb use: kept, runs when lib/a.rb:19 is loaded\n",
		},
		"a_class_is_no_method_of_its_name": {
			"-- lib/a.rb --\nmodule S\n  class Model\n    def self.Model(x); x; end\n    Model::Part.make\n    module Part\n      def self.make; 1; end\n    end\n  end\nend\n",
			"lib/a.rb S.Model.Model: masked\nlib/a.rb S.Model.Part.make: kept, runs when lib/a.rb:4 is loaded\n",
		},
		"a_bare_new_makes_an_object_of_the_class_around": {
			"-- lib/a.rb --\nclass A\n  def initialize; @a = 1; end\n  ONE = new\nend\n",
			"lib/a.rb A.initialize: kept, runs when lib/a.rb:3 is loaded\n",
		},
		"an_empty_method_is_there_for_others_to_have": {
			"-- lib/a.rb --\nclass A\n  def self.hook; end\n  def self.run; hook; end\nend\nclass B < A\n  def self.hook; 2; end\n  def self.go; run; end\nend\nB.go\n",
			"lib/a.rb A.hook: kept, nothing to mask\nlib/a.rb A.run: kept, runs when lib/a.rb:9 is loaded, by B.go\n" +
				"lib/a.rb B.hook: kept, runs when lib/a.rb:9 is loaded, by B.go\nlib/a.rb B.go: kept, runs when lib/a.rb:9 is loaded\n",
		},
		"a_block_that_is_loaded_may_run_for_another_object": {
			"-- lib/a.rb --\nclass A\n  def self.rule; 1; end\n  def self.run(set); instance_exec(&set); end\nend\nSET = proc { rule }\nA.run(SET)\n" +
				"-- lib/b.rb --\nclass B\n  def self.rule!; 1; end\nend\nRULES = proc { rule! }\nB.instance_exec(&RULES)\n",
			"lib/a.rb A.rule: kept, runs when lib/a.rb:5 is loaded\nlib/a.rb A.run: kept, runs when lib/a.rb:6 is loaded\nlib/b.rb B.rule!: kept, runs when lib/b.rb:4 is loaded\n",
		},
		"an_operator_is_no_beginning_of_names": {
			"-- lib/a.rb --\nclass A\n  def one; 1; end\n  def two; 2; end\nend\nMADE = A.new\nWIDTH = [2, 3].reduce(:*)\nGAP = WIDTH * 2\nMADE.one\n",
			"lib/a.rb A.one: kept, runs when lib/a.rb:8 is loaded\nlib/a.rb A.two: masked\n",
		},
		"what_a_class_without_a_name_does_waits_for_its_call": {
			"-- A.java --\nclass A {\n  static final Shape ONE = make();\n  static final int SIDES = ONE.sides();\n" +
				"  static Shape make() {\n    return new Shape() {\n      int sides() { return count(); }\n      int size() { return A.size(); }\n    };\n  }\n" +
				"  static int count() { return 1; }\n  static int size() { return 2; }\n}\n" +
				"-- Shape.java --\nabstract class Shape {\n  abstract int sides();\n  abstract int size();\n}\n",
			"A.java A.make: kept, runs when A.java:2 is loaded\n" +
				"A.java A.make.new Shape.sides: kept, runs when A.java:3 is loaded\n" +
				"A.java A.make.new Shape.size: masked\n" +
				"A.java A.count: kept, runs when A.java:3 is loaded, by A.make.new Shape.sides\n" +
				"A.java A.size: masked\n" +
				"Shape.java Shape.sides: kept, abstract: its body says nothing\nShape.java Shape.size: kept, abstract: its body says nothing\n",
		},
		"members_of_a_class_that_are_imported": {
			"-- a/A.java --\npackage a;\nimport static b.B.one;\nimport static b.B.two;\nimport static c.C.*;\nimport static java.util.Objects.*;\n" +
				"class A {\n  static final int X = one() + two() + three() + hash();\n  static int unused() { return four(); }\n}\n" +
				"-- b/B.java --\npackage b;\npublic class B extends P {\n  public static int one() { return 1; }\n  public static int three() { return 3; }\n}\n" +
				"-- b/P.java --\npackage b;\nclass P {\n  public static int two() { return 2; }\n  public static int four() { return 4; }\n}\n" +
				"-- c/C.java --\npackage c;\npublic class C {\n  public static int three() { return 3; }\n  public static int four() { return 4; }\n}\n",
			"a/A.java A.unused: masked\n" +
				"b/B.java B.one: kept, runs when a/A.java:7 is loaded\nb/B.java B.three: masked\n" +
				"b/P.java P.two: kept, runs when a/A.java:7 is loaded\nb/P.java P.four: masked\n" +
				"c/C.java C.three: kept, runs when a/A.java:7 is loaded\nc/C.java C.four: masked\n",
		},
		"names_that_a_file_takes_from_a_package_are_its_own": {
			"-- a/A.java --\npackage a;\nimport b.*;\nclass A {\n  static final int ONE = B.one();\n  static final int TWO = Text.two();\n}\n" +
				"-- b/B.java --\npackage b;\nimport c.*;\npublic class B {\n  public static int one() { return Text.three(); }\n}\n" +
				"-- c/Text.java --\npackage c;\npublic class Text {\n  public static int two() { return 2; }\n  public static int three() { return 3; }\n}\n",
			"b/B.java B.one: kept, runs when a/A.java:4 is loaded\n" +
				"c/Text.java Text.two: masked\nc/Text.java Text.three: kept, runs when a/A.java:4 is loaded, by B.one\n",
		},
		"what_the_platform_s_objects_give": {
			"-- A.java --\nimport java.util.List;\nimport java.util.regex.Matcher;\nimport java.util.regex.Pattern;\nclass A {\n" +
				"  static final Pattern P = Pattern.compile(\"a\");\n  static final A ONE = new A(List.of(), \"a\", null);\n" +
				"  A(List<A> all, String text, Matcher m) {\n    if ((m = P.matcher(text)).matches()) return;\n    text.strip().split(\"a\")[0].close();\n" +
				"    P.matcher(text).group().size();\n    all.get(0).open();\n    var unknown = all;\n    unknown.iterator().next().read();\n" +
				"    text.strip().reset();\n    m.toMatchResult().reset();\n  }\n  int reset() { return 1; }\n" +
				"  boolean matches() { return f(); }\n  int size() { return 1; }\n  int open() { return 1; }\n  int read() { return 1; }\n  static boolean f() { return true; }\n}\n",
			"A.java A.<init>: kept, runs when A.java:6 is loaded\nA.java A.reset: masked\nA.java A.matches: masked\nA.java A.size: masked\n" +
				"A.java A.open: kept, runs when A.java:6 is loaded, by A.<init>\nA.java A.read: kept, runs when A.java:6 is loaded, by A.<init>\nA.java A.f: masked\n",
		},
		"an_object_around_another": {
			"-- A.java --\nclass A {\n  static final A ONE = new A();\n  B b = new B();\n  class B { int n = A.this.one(); int two = next().two(); }\n  int one() { return 1; }\n  int two() { return 1; }\n  A next() { return this; }\n}\n",
			"A.java A.one: kept, runs when A.java:2 is loaded\nA.java A.two: kept, runs when A.java:2 is loaded\nA.java A.next: kept, runs when A.java:2 is loaded\n",
		},
		"files_of_one_family": {
			"-- a.ts --\nimport { f } from './b.js';\nexport const x = f();\n-- b.js --\nexport function f() { return 1; }\nexport function g() { return 1; }\n",
			"b.js f: kept, runs when a.ts:2 is loaded\nb.js g: masked\n",
		},
		"members_of_a_namespace": {
			"-- a.ts --\nexport namespace util {\n  export const f = (x: number) => { return x; };\n  export function g() { return 1; }\n}\nexport namespace a.b { export function h() { return 1; }\n  export function k() { return 1; } }\n" +
				"-- b.ts --\nimport { util, a } from './a.js';\nexport const x = util.f(1) + a.b.h();\n",
			"a.ts util.f: kept, runs when b.ts:2 is loaded\na.ts util.g: masked\na.ts a.b.h: kept, runs when b.ts:2 is loaded\na.ts a.b.k: masked\n",
		},
		"what_no_name_leads_to_is_a_program": {
			"-- lib/a.rb --\nrequire_relative '../more/used'\ndef f; 1; end\ndef g; 2; end\ng\n" +
				"-- more/used.rb --\ndef h; 3; end\nh\n-- Rakefile --\nrequire 'a'\nf\n-- bare/simple.ru --\nrequire 'a'\nf\n" +
				"-- src/a.php --\n<?php\nfunction f() { return 1; }\nfunction g() { return 2; }\ng();\n-- src/B.php --\n<?php\nnamespace B;\nclass B {}\n" +
				"-- run.php --\n<?php\nrequire 'src/a.php';\nf();\n-- src/c/bin/update.php --\n<?php\nf();\n-- lib/exe/go.rb --\nf\n",
			"lib/a.rb f: masked\nlib/a.rb g: kept, runs when lib/a.rb:4 is loaded\nmore/used.rb h: kept, runs when more/used.rb:2 is loaded\n" +
				"src/a.php f: masked\nsrc/a.php g: kept, runs when src/a.php:4 is loaded\n",
		},
		"what_objects_run_that_have_no_constructor_of_their_own": {
			"-- A.java --\nclass A {\n  static final Object ONE = make();\n  static Object make() { return new B(); }\n}\n" +
				"-- B.java --\nclass B extends C {\n  int first = first();\n  B() { /* nothing */ }\n  static int first() { return 1; }\n  static int never() { return 1; }\n}\n" +
				"-- C.java --\nclass C {\n  { second(); }\n  static void second() { C.x = 1; }\n}\n-- D.java --\nclass D {\n  int third = third();\n  static int third() { return 1; }\n}\n" +
				"-- a.js --\nclass B { x = first(); constructor() {} }\nclass C { x = second(); }\nclass D extends C { constructor(y = third()) { super(); } }\nclass E { x = never(); }\n" +
				"function first() { return 1; }\nfunction second() { return 1; }\nfunction third() { return 1; }\nfunction never() { return 1; }\nfunction make() { return [new B(), new D()]; }\nexport const one = make();\n" +
				"-- b.ts --\nclass B { constructor(private x = first()) {} }\nfunction first() { return 1; }\nfunction make() { return new B(); }\nexport const one = make();\n" +
				"-- src/a.php --\n<?php\nclass B { public function __construct(private $y = new C()) {} }\nclass C { public function __construct() { $this->z = first(); } }\nfunction first() { return 1; }\nfunction make() { return new B(); }\n$one = make();\n",
			"A.java A.make: kept, runs when A.java:2 is loaded\n" +
				"B.java B.<init>: kept, nothing to mask\nB.java B.first: kept, runs when A.java:2 is loaded, by A.make\nB.java B.never: masked\n" +
				"C.java C.<init block>: kept, runs when the code is loaded\nC.java C.second: kept, runs when A.java:2 is loaded, by A.make\nD.java D.third: masked\n" +
				"a.js B.constructor: kept, nothing to mask\na.js D.constructor: kept, nothing to mask\n" +
				"a.js first: kept, runs when a.js:10 is loaded, by make\na.js second: kept, runs when a.js:10 is loaded, by make\na.js third: kept, runs when a.js:10 is loaded, by make\n" +
				"a.js never: masked\na.js make: kept, runs when a.js:10 is loaded\n" +
				"b.ts B.constructor: kept, nothing to mask\nb.ts first: kept, runs when b.ts:4 is loaded, by make\nb.ts make: kept, runs when b.ts:4 is loaded\n" +
				"src/a.php B.__construct: kept, nothing to mask\nsrc/a.php C.__construct: kept, runs when src/a.php:6 is loaded, by make\n" +
				"src/a.php first: kept, runs when src/a.php:6 is loaded, by make\nsrc/a.php make: kept, runs when src/a.php:6 is loaded\n",
		},
		"what_go_s_own_packages_are_called": {
			"-- go.mod --\nmodule shop.example/x\n-- a/a.go --\npackage a\n\nimport (\n\t\"errors\"\n\t\"shop.example/x/strings\"\n\t\"other.example/log\"\n)\n\nvar E, T, L = errors.New(\"a\"), strings.Title(\"a\"), log.New()\n" +
				"-- errors/e.go --\npackage errors\n\nfunc New(s string) error { return e(s) }\n-- strings/s.go --\npackage strings\n\nfunc Title(s string) string { return s + s }\n-- log/l.go --\npackage log\n\nfunc New() int { return 1 }\n",
			"errors/e.go New: masked\nlog/l.go New: masked\nstrings/s.go Title: kept, runs when a/a.go:9 is loaded\n",
		},
		"what_is_named_waits_for_its_call": {
			"-- A.java --\nclass A {\n  static final Runnable R = A::one;\n  static final Object O = give(A::two);\n  static Object give(Runnable r) { return r; }\n  static void one() { A.x(); }\n  static void two() { A.y(); }\n}\n" +
				"-- src/a.php --\n<?php\nfunction f() { return 1; }\nfunction g() { return 2; }\n$t = ['g'];\narray_map('f', []);\n",
			"A.java A.give: kept, runs when A.java:3 is loaded\nA.java A.one: masked\nA.java A.two: kept, runs when A.java:3 is loaded\n" +
				"src/a.php f: kept, runs when src/a.php:5 is loaded\nsrc/a.php g: masked\n",
		},
		"a_bare_name_may_be_of_a_class_below": {
			"-- A.java --\nabstract class A {\n  A() { init(); }\n  void init() { f(1); }\n  static void f(int x) { g(x + 1); }\n  static void g(int x) { f(x - 1); }\n}\n" +
				"-- B.java --\nclass B extends A {\n  static final B ONE = new B();\n  void init() { f(2); }\n  void other() { f(3); }\n}\n" +
				"-- C.java --\nclass C extends A {\n  void init() { f(2); }\n}\n",
			"A.java A.<init>: kept, runs when B.java:2 is loaded\nA.java A.init: kept, runs when B.java:2 is loaded, by A.<init>\n" +
				"A.java A.f: kept, runs when B.java:2 is loaded, by A.<init>\nA.java A.g: kept, runs when B.java:2 is loaded, by A.<init>\n" +
				"B.java B.init: kept, runs when B.java:2 is loaded, by A.<init>\nB.java B.other: masked\nC.java C.init: masked\n",
		},
		"what_a_class_of_Ruby_has_of_others": {
			"-- lib/core.rb --\nclass Module\n  def declare(x) = @all = [x]\n  def unused(x) = @all = x\nend\nclass String\n  def plural = self + 's'\nend\n" +
				"-- lib/m.rb --\nmodule M\n  def self.included(base)\n    base.extend ClassMethods\n  end\n  module ClassMethods\n    def word(x) = @word = x\n    def make = new(1)\n  end\n" +
				"  module Own\n    def own = 1 + 1\n  end\n  extend Own\n  own\nend\n" +
				"-- lib/t.rb --\nrequire 'core'\nrequire 'm'\nclass T\n  include M\n  declare :x\n  word compute('day')\n  def self.compute(x) = x.plural\n" +
				"  def self.default = new(2)\n  def initialize(x) = @x = x\n  ONE = default\nend\nbegin\n  U.new do |o|\n    def o.alias(x) = @x = x\n    o.alias 1\n  end\nend\n",
			"lib/core.rb Module.declare: kept, runs when lib/t.rb:5 is loaded\nlib/core.rb Module.unused: masked\nlib/core.rb String.plural: kept, runs when lib/t.rb:6 is loaded, by T.compute\n" +
				"lib/m.rb M.included: kept, runs when the code is loaded\nlib/m.rb M.ClassMethods.word: kept, runs when lib/t.rb:6 is loaded\nlib/m.rb M.ClassMethods.make: masked\n" +
				"lib/m.rb M.Own.own: kept, runs when lib/m.rb:13 is loaded\nlib/t.rb T.compute: kept, runs when lib/t.rb:6 is loaded\nlib/t.rb T.default: kept, runs when lib/t.rb:10 is loaded\n" +
				"lib/t.rb T.initialize: kept, runs when lib/t.rb:10 is loaded, by T.default\nlib/t.rb o.alias: kept, runs when the code is loaded\n",
		},
		"packages_that_are_installed_run_nothing_of_ours": {
			"-- a.js --\nimport { b } from 'dep';\nclass A { constructor() { this.x = 1; } close() { return 1; } }\nexport const a = new A();\nexport const c = b(a.x);\n-- node_modules/dep/index.js --\nexport function b(x) { return x; }\nx().close();\n",
			"a.js A.constructor: kept, runs when a.js:3 is loaded\na.js A.close: masked\n",
		},
		"names_of_one_sign": {
			"-- a.js --\n$();\n_();\nfunction $() { return 1; }\nfunction _() { return $$(); }\nfunction $$() { return 1; }\n",
			"a.js $: kept, runs when a.js:1 is loaded\na.js _: kept, runs when a.js:2 is loaded\na.js $$: kept, runs when a.js:2 is loaded, by _\n",
		},
		"an_object_is_one_of_its_language": {
			"-- lib/a.rb --\nclass A\n  def initialize; 1; end\n  def open; 2; end\n  def close; 3; end\nend\nA.new\n-- lib/z.js --\nfetch().close();\n-- lib/a.js --\nclass B {\n  constructor() { this.n = 1; }\n  open() { return this.n; }\n}\nnew B();\nfetch().open();\n",
			"lib/a.js B.constructor: kept, runs when lib/a.js:5 is loaded\nlib/a.js B.open: kept, runs when lib/a.js:6 is loaded\n" +
				"lib/a.rb A.initialize: kept, runs when lib/a.rb:6 is loaded\nlib/a.rb A.open: masked\nlib/a.rb A.close: masked\n",
		},
		"the_platform_s_objects_have_no_methods_of_ours": {
			"-- A.java --\nimport java.util.List;\nclass A {\n  static final A ONE = new A();\n  private final List<String> all = List.of();\n  private final int[] counts = new int[1];\n  private Box box;\n" +
				"  A() { all.get(0); counts.clone(); this.all.size(); box.open(); all.get(0).strip().toString(); }\n" +
				"  String get(int i) { return null == all ? \"\" : \"a\"; }\n  int size() { return counts[0]; }\n  public String toString() { return \"a\" + counts; }\n" +
				"  protected Object clone() { return counts; }\n}\n" +
				"-- Box.java --\nclass Box {\n  int open() { return hashCode(); }\n  int get() { return 1; }\n}\n",
			"A.java A.<init>: kept, runs when A.java:3 is loaded\nA.java A.get: masked\nA.java A.size: masked\nA.java A.toString: masked\nA.java A.clone: masked\n" +
				"Box.java Box.open: kept, runs when A.java:3 is loaded, by A.<init>\nBox.java Box.get: masked\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, m := starter(t, mask.Options{Source: source(t, c.tree), Languages: []mask.Language{golang.Masker{}, java.Masker{}, javascript.Masker{}, typescript.Masker{}, ruby.Masker{}, php.Masker{}, python.Masker{}}})
			if d := cmp.Diff(c.want, fates(m)); d != "" {
				t.Error(d)
			}
		})
	}
}

// Tests that stand among the code are no lines that could have been masked.
func TestLinesOfTests(t *testing.T) {
	t.Parallel()
	tree := "-- src/lib.rs --\nfn f() -> u8 { 1 }\nconst fn g() -> u8 { 1 }\nconst G: u8 = g();\n#[cfg(test)]\nmod tests {\n    fn helper() -> u8 { 1 }\n    #[test]\n    fn works() { assert_eq!(super::f(), helper()); }\n}\n"
	_, m := starter(t, mask.Options{Source: source(t, tree), Languages: []mask.Language{rust.Masker{}}})
	if m.Totals.Lines != 2 || m.Totals.Left != 1 || m.Totals.Share != 0.5 {
		t.Errorf("%d lines, %d left, %g", m.Totals.Lines, m.Totals.Left, m.Totals.Share)
	}
}

// A function stands for what is inside of it: what only that calls is only its.
func TestSliceOfAnOuterFunction(t *testing.T) {
	t.Parallel()
	tree := "-- A.java --\nclass A {\n  static Runnable make() {\n    return new Runnable() {\n      public void run() { alone(); }\n    };\n  }\n" +
		"  static void alone() { other(); }\n  static void other() { return; }\n  static int kept() { return 1; }\n}\n"
	_, m := starter(t, mask.Options{Source: source(t, tree), Languages: []mask.Language{java.Masker{}}, Slice: mask.Slice{Function: "A.make"}})
	want := "A.java A.make: masked\nA.java A.make.new Runnable.run: gone\nA.java A.alone: masked\nA.java A.other: masked\nA.java A.kept: kept, outside the slice\n"
	if d := cmp.Diff(want, fates(m)); d != "" {
		t.Error(d)
	}
}

// What makes a handler runs where its route is declared: only what it returns fails.
func TestReturned(t *testing.T) {
	t.Parallel()
	const head = "package a\n\nimport (\n\t\"fmt\"\n\t\"net/http\"\n\t\"strings\"\n)\n\ntype hidden func(http.Handler)\n\nvar taken = fmt.Sprint(1)\n"
	tree := "-- go.mod --\nmodule m\n-- a.go --\n" + head + `
func Whole() http.HandlerFunc {

	return func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, 1)
	}
}

func (s *S) Set(prefix string) http.Handler {
	type answer struct{ Name string }
	upper := strings.ToUpper(prefix)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, answer{upper})
	})
}

type S struct{}

func line() func() int { return func() int { return 1 } }

func local(prefix string) http.HandlerFunc {
	wrap := func(h http.HandlerFunc) http.HandlerFunc { return h }
	return wrap(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, prefix) })
}

func lost() func(any) { return func(x any) { _ = x.(*strings.Builder) } }

func only() any { return func(b *strings.Builder) { b.Reset() } }

func outside() http.HandlerFunc { return func(w http.ResponseWriter, r *http.Request) {} }
`
	out := filepath.Join(t.TempDir(), "starter")
	names := []string{"Whole", "S.Set", "line", "local", "lost", "only"}
	_, m := starter(t, mask.Options{Source: source(t, tree), Output: out, Languages: []mask.Language{golang.Masker{}}, Slice: mask.Slice{Names: names, Returned: names}})
	const none = ": kept, it runs where its route is declared, and returns no function literal\n"
	want := "a.go Whole: masked\na.go S.Set: masked\na.go line: masked\na.go local" + none + "a.go lost: masked\na.go only" + none + "a.go outside: kept, outside the slice\n"
	if d := cmp.Diff(want, fates(m)); d != "" {
		t.Error(d)
	}
	wantText := head + `
func Whole() http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		panic("masked: Whole")
	}
}

func (s *S) Set(prefix string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		panic("masked: S.Set")
	})
}

type S struct{}

func line() func() int { return func() int { panic("masked: line") } }

func local(prefix string) http.HandlerFunc {
	wrap := func(h http.HandlerFunc) http.HandlerFunc { return h }
	return wrap(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, prefix) })
}

func lost() func(any) { return func(x any) { panic("masked: lost") } }

func only() any { return func(b *strings.Builder) { b.Reset() } }

func outside() http.HandlerFunc { return func(w http.ResponseWriter, r *http.Request) {} }
`
	if d := cmp.Diff(wantText, read(t, filepath.Join(out, "a.go"))); d != "" {
		t.Error(d)
	}
}

// The handlers of routes, in languages in which a prefix or a class stands elsewhere.
func TestRoutesByLanguage(t *testing.T) {
	t.Parallel()
	tree := "-- config/routes.rb --\nget \"/users\", to: \"users#index\"\nget \"/other\", to: \"other#index\"\nget \"/users/all\", to: \"admin/users#all\"\n" +
		"-- app/admin/users_controller.rb --\nclass Admin::UsersController\n  def all\n    1\n  end\n  def none\n    1\n  end\nend\n" +
		"-- app/users_controller.rb --\nclass UsersController\n  def index\n    1\n  end\nend\n-- app/other_controller.rb --\nclass OtherController\n  def index\n    1\n  end\nend\n" +
		"-- A.java --\n@RequestMapping(\"/users\")\nclass A {\n  @GetMapping(\"/{id}\") int one() { return 1; }\n}\n" +
		"-- src/a.php --\n<?php\nRoute::get(\"/users\", [U::class, \"one\"]);\nRoute::get(\"/other\", [U::class, \"two\"]);\nclass U { function one() { return 1; } function two() { return 2; } }\n"
	languages := []mask.Language{java.Masker{}, ruby.Masker{}, php.Masker{}}
	_, m := starter(t, mask.Options{Source: source(t, tree), Languages: languages, Slice: mask.Slice{Route: "/users"}})
	want := "A.java A.one: masked\napp/admin/users_controller.rb Admin.UsersController.all: masked\napp/admin/users_controller.rb Admin.UsersController.none: kept, outside the slice\napp/other_controller.rb OtherController.index: kept, outside the slice\napp/users_controller.rb UsersController.index: masked\n" +
		"src/a.php U.one: masked\nsrc/a.php U.two: kept, outside the slice\n"
	if d := cmp.Diff(want, fates(m)); d != "" {
		t.Error(d)
	}
	_, err := mask.Run(t.Context(), mask.Options{Source: source(t, tree), Output: filepath.Join(t.TempDir(), "out"), Languages: languages[:1], Slice: mask.Slice{Route: "user"}})
	if want := `no route under "user"; did you mean /users? (1 routes in this tree)`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// What a grammar does not know, in code that is no function's, is named and stays; the rest
// of the file is masked.
func TestUnknownSyntaxInACallback(t *testing.T) {
	t.Parallel()
	const callback = "bench('x', async () => {\n  const a = 1;\n  using x = open(a);\n  await x.go();\n});\n"
	src, out := source(t, "-- a.js --\nexport function f() {\n  return 1;\n}\n"+callback), filepath.Join(t.TempDir(), "out")
	result, m := starter(t, mask.Options{Source: src, Output: out, Languages: []mask.Language{javascript.Masker{}}})
	if len(result.Failed) > 0 {
		t.Fatalf("failed: %q", result.Failed)
	}
	if d := cmp.Diff("export function f() {\n  throw new Error(\"masked: f\");\n}\n"+callback, read(t, filepath.Join(out, "a.js"))); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"a.js:6"}, m.Totals.Faults); d != "" {
		t.Errorf("faults, -want +got:\n%s", d)
	}
	undoes(t, src, out)
}
