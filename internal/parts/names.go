package parts

import (
	"path"
	"slices"
	"strings"
	"sync"
)

var (
	automationDirs = strings.Fields(`.github .gitlab .circleci .buildkite .azure-pipelines .azure .woodpecker .tekton .semaphore .builds .forgejo .gitea .teamcity .ci travis`)

	automationNames = strings.Fields(`.gitlab-ci.yml .travis.yml appveyor.yml .appveyor.yml azure-pipelines.yml azure-pipelines.yaml Jenkinsfile .drone.yml
		.cirrus.yml .cirrus.star bitbucket-pipelines.yml .pre-commit-config.yaml .pre-commit-config.yml codecov.yml .codecov.yml
		.coveragerc dependabot.yml renovate.json .renovaterc .golangci.yml .golangci.yaml .goreleaser.yml .goreleaser.yaml
		.lgtm.yml .scrutinizer.yml .codeclimate.yml sonar-project.properties wercker.yml circle.yml CODEOWNERS FUNDING.yml`)

	vendorDirs = strings.Fields(`vendor vendored _vendor third_party third-party 3rdparty node_modules Godeps bower_components`)

	// testDirs are test roots at any depth; topTestDirs at the root of the tree, for
	// what is no source.
	testDirs = strings.Fields(`tests testdata test_data test-data testcases test_cases testsuite __tests__ __mocks__ __fixtures__
		unittests unit_tests unit-tests integration_tests integration-tests functional_tests functional-tests
		acceptance_tests e2e_tests e2e-tests test_fixtures test-fixtures testfixtures _tests itests tests_integration tests_unit`)
	topTestDirs = strings.Fields(`spec specs e2e integration fixtures cypress t`)

	goldenDirs  = strings.Fields(`__snapshots__ snapshots __image_snapshots__ golden goldens golden_files goldenfiles cassettes`)
	goldenWords = strings.Fields(`snap ambr golden approved snapshot`)

	// topDocDirs are docs whatever is in them; docDirs only where it is no source.
	topDocDirs = strings.Fields(`docs doc documentation examples example _examples _example samples sample demo demos tutorial tutorials
		docs_src doc_src cookbook`)
	docDirs = strings.Fields(`docs doc documentation newsfragments changelog.d _examples examples javadoc man website site guides recipes notebooks`)
	// fragmentDirs hold changelog entries, one a file.
	fragmentDirs = strings.Fields(`changelog.d changes changelog changelogs news newsfragments .changes .changeset .changelog
		changelog_unreleased upcoming_changes releasenotes release-notes release_notes towncrier`)

	docNames = strings.Fields(`mkdocs.yml mkdocs.yaml .readthedocs.yml .readthedocs.yaml readthedocs.yml CITATION.cff book.toml AUTHORS MAINTAINERS CNAME _config.yml`)
	docStems = strings.Fields(`readme changelog changes history news authors contributing contributors contribute license licence
		copying copyright unlicense notice security code_of_conduct code-of-conduct maintainers upgrading upgrade migration
		migrating citation credits thanks backers governance support roadmap todo releasing release_notes releasenotes
		releases faq install installation hacking`)
	legalStems = strings.Fields(`license licence copying copyright unlicense notice readme`)
	plainText  = strings.Fields(`.md .markdown .rst .adoc .asciidoc .txt .mdx .org .rdoc .textile .html`)
	docExts    = strings.Fields(`.md .markdown .rst .adoc .asciidoc .mdx .rdoc .textile`)
	// dataDirs hold text that a program reads.
	dataDirs  = strings.Fields(`templates template data resources resource assets static skeleton skel`)
	imageDirs = strings.Fields(`img imgs images image screenshots media videos assets art artwork logo`)
	imageExts = strings.Fields(`.png .svg .gif .jpg .jpeg .webp .ico .mp4 .webm .psd .ai`)

	// manifestNames say what ships needs, at any depth.
	manifestNames = strings.Fields(`pyproject.toml setup.py setup.cfg MANIFEST.in Pipfile Pipfile.lock poetry.lock uv.lock pdm.lock pylock.toml environment.yml
		go.mod go.sum go.work go.work.sum Gopkg.toml Gopkg.lock package.json package-lock.json yarn.lock pnpm-lock.yaml
		Cargo.toml Cargo.lock pom.xml build.gradle build.gradle.kts settings.gradle Gemfile Gemfile.lock composer.json composer.lock CMakeLists.txt`)
	// runnerNames are settings of test runners, and of nothing that ships.
	runnerNames = strings.Fields(`pytest.ini .pytest.ini tox.ini .tox.ini conftest.ini jest.config.js jest.config.ts vitest.config.ts
		vitest.config.js karma.conf.js cypress.json playwright.config.ts phpunit.xml phpunit.xml.dist nose.cfg test-requirements.txt`)

	toolingDirs  = strings.Fields(`scripts script benchmarks benchmark bench benches asv_bench hack ci .devcontainer`)
	toolingNames = strings.Fields(`Makefile makefile GNUmakefile justfile Justfile noxfile.py tasks.py fabfile.py dodo.py Taskfile.yml Taskfile.yaml
		pylintrc mypy.ini ruff.toml pyrightconfig.json pytype.cfg asv.conf.json release-please-config.json cliff.toml towncrier.toml`)
)

// languageOf names languages by extension, known to a plugin or not: a reject
// says what the change is written in.
var languageOf = sync.OnceValue(func() map[string]string {
	return map[string]string{
		".py": "python", ".pyx": "python", ".pyi": "python", ".go": "go", ".js": "javascript", ".jsx": "javascript", ".mjs": "javascript",
		".cjs": "javascript", ".ts": "typescript", ".tsx": "typescript", ".rs": "rust", ".java": "java", ".kt": "kotlin", ".scala": "scala",
		".c": "c", ".h": "c", ".cc": "c++", ".cpp": "c++", ".cxx": "c++", ".hpp": "c++", ".cs": "c#", ".rb": "ruby", ".php": "php",
		".swift": "swift", ".m": "objective-c", ".sh": "shell", ".bash": "shell", ".pl": "perl", ".lua": "lua", ".ex": "elixir",
		".exs": "elixir", ".erl": "erlang", ".hs": "haskell", ".ml": "ocaml", ".clj": "clojure", ".dart": "dart", ".r": "r", ".R": "r",
		".jl": "julia", ".zig": "zig", ".s": "assembly", ".S": "assembly", ".asm": "assembly", ".vue": "javascript", ".sql": "sql",
	}
})

// IsManifest knows the files that say what a project needs, by name.
func IsManifest(name string) bool { return slices.Contains(manifestNames, path.Base(name)) }

// IsSource distinguishes a program's text from data and manifests.
func IsSource(name string) bool { return LanguageOf(name) != "" }

// LanguageOf is the language that a file's extension stands for, "" for none and
// for manifests.
func LanguageOf(name string) string {
	if IsManifest(name) {
		return ""
	}
	return languageOf()[path.Ext(name)]
}
