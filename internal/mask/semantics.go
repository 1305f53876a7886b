package mask

// Semantics is what names and calls mean in a language, as far as the call graph hangs on
// it. What it does not say is alike in all of them. The zero value is a language of
// modules that are imported by name, whose classes stand in one file each.
type Semantics struct {
	// Family is the word under which languages see each other's files (TypeScript's go
	// by JavaScript's); "" for the language's own name.
	Family string

	// ByName: files say by plain names what they call (Called alone, in Loads and Runs), and no more. What stays because it
	// runs when the code is loaded is seen (Options.Load), or found by these names.
	ByName bool

	// Everywhere: a name needs no import, and a bare one may be a member of the class around: Java, C#, Ruby, PHP, Rust.
	Everywhere bool
	// NoBareMembers: a bare name is no member after all, but a function, or it makes an object: PHP, Rust.
	NoBareMembers bool

	// BareMembers: a bare name may be a member of the class around it.
	BareMembers bool
	// Overrides: a call by such a name is followed to what classes below have. Without it
	// what a class and what its objects answer is told apart by nobody, and too much would
	// be kept.
	Overrides bool
	// FullNames: a name that begins with a package needs no import.
	FullNames bool
	// OwnStars: what a file takes by a star (using, import a.*) is a name for itself alone,
	// and not one of the file for those that import it.
	OwnStars bool
	// SharedModules: many files are of one module. To import is to load the file of what
	// is named, and of a star none.
	SharedModules bool
	// OwnPrefix: an import begins with the project's own prefix (Anchored). A folder that
	// is called as a package of others is none of what it takes.
	OwnPrefix bool

	// SpreadClasses: a class may have parts in several files of a package.
	SpreadClasses bool
	// OpenClasses: a class's name holds everywhere, and any file may add to it.
	OpenClasses bool
	// LocalClasses: what is inside of a function are methods of classes of its own, which
	// run when they are called on an object, as those of any other class.
	LocalClasses bool
	// Universal are the classes whose methods every object and class has: what a tree adds
	// to them is called by a bare name anywhere.
	Universal []string

	// ByResult: what is inside of a function runs when what the function gave is called,
	// and not with the function.
	ByResult bool
}
