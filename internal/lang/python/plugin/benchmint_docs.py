"""Builds the documentation of a project with its own tool, and writes its pages as one file of JSON.

Usage: python benchmint_docs.py SETTINGS

SETTINGS is a file of JSON: tool (sphinx or mkdocs), root (the tree), conf (the tool's
configuration), scratch (a folder) and out (the file to write). What is written are the pages in
the order of the tables of contents, each the HTML of its text alone: no theme is asked for it,
and no page of source code is made. Nothing here needs the network. Whatever ends the build
before its end leaves the exit code 1, and why in the last line.
"""
import base64
import importlib
import json
import os
import sys

# Extensions that show source code, that ask the network, or that need programs of the machine.
DROPPED = ("sphinx.ext.viewcode", "sphinx.ext.linkcode", "sphinx.ext.githubpages", "sphinx.ext.imgmath",
           "sphinxext.opengraph", "sphinx_sitemap", "sphinx_multiversion", "sphinx_last_updated_by_git")
# Plug-ins of MkDocs that do the same, or that write what is not the text of a page.
PLUGINS_DROPPED = ("search", "social", "privacy", "offline", "optimize", "tags", "blog", "rss", "meta", "group", "info",
                   "typeset", "projects", "minify", "redirects", "htmlproofer", "mike", "git-authors", "git-committers",
                   "git-committers-2", "git-revision-date", "git-revision-date-localized", "git-latest-changes")
PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg")
MAX_PICTURE = 2 << 20  # bytes

pages = {}  # by name: what a page holds
lost = []  # extensions that are not there


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        settings = json.load(f)
    os.makedirs(settings["scratch"], exist_ok=True)
    made = {"sphinx": sphinx, "mkdocs": mkdocs}[settings["tool"]](settings)
    if not made["pages"]:
        raise RuntimeError("the build makes no pages")
    made["lost"] = sorted(set(lost))
    with open(settings["out"], "w", encoding="utf-8") as f:
        json.dump(made, f, sort_keys=True)


def sphinx(settings):
    import sphinx as tool
    from sphinx.application import Sphinx

    source = os.path.dirname(settings["conf"])
    with open(settings["conf"], "a", encoding="utf-8") as f:
        f.write("\n\nfrom benchmint_docs import settle as _benchmint_settle\n_benchmint_settle(globals())\n")
    os.chdir(source)
    out = os.path.join(settings["scratch"], "html")
    app = Sphinx(source, source, out, os.path.join(settings["scratch"], "doctrees"), "html", freshenv=True)
    app.build(force_all=True)
    env = app.env
    names, seen = [], set()

    def visit(name):
        if name in seen or name not in pages:
            return
        seen.add(name)
        names.append(name)
        for child in env.toctree_includes.get(name, []):
            visit(child)

    visit(getattr(app.config, "root_doc", None) or app.config.master_doc)
    for name in sorted(pages):
        visit(name)
    for name in names:
        includes = [os.path.relpath(os.path.join(source, str(d)), settings["root"]) for d in env.dependencies.get(name, [])]
        pages[name]["includes"] = sorted(i for i in includes if not i.startswith("..") and not i.endswith(".py"))
    files = {}
    for name in sorted(set(app.builder.images.values())):
        picture(files, "_images/" + name, os.path.join(out, "_images", name))
    return {"tool": "Sphinx " + tool.__version__, "pages": [pages[n] for n in names], "files": files}


def settle(conf):
    """Overrides what the configuration of a project says, after it has run."""
    kept = []
    for name in conf.get("extensions") or []:
        if name in DROPPED:
            continue
        try:
            importlib.import_module(name)
        except Exception:  # whatever it is that it lacks here
            lost.append(name)
        else:
            kept.append(name)
    conf["extensions"] = kept + ["benchmint_docs"]
    conf.update(html_theme="basic", html_theme_options={}, pygments_style="sphinx", html_extra_path=[],
                html_permalinks=False, html_add_permalinks="", html_last_updated_fmt=None, html_codeblock_linenos_style="table",
                intersphinx_mapping={}, nitpicky=False, smartquotes=False, keep_warnings=False)


def setup(app):
    """Makes this module the extension of Sphinx that keeps the text of each page."""
    from sphinx.builders.html import StandaloneHTMLBuilder

    class Pages(StandaloneHTMLBuilder):
        name = "html"
        search = False

        def handle_page(self, pagename, addctx, *args, **kwargs):
            if pagename in self.env.found_docs and "body" in addctx:
                pages[pagename] = {"name": pagename, "title": self.env.titles[pagename].astext(), "html": addctx["body"]}

        def finish(self):
            self.copy_image_files()

    app.add_builder(Pages, override=True)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def mkdocs(settings):
    import mkdocs as tool
    from mkdocs.commands.build import build
    from mkdocs.config import load_config
    from mkdocs.utils import yaml_load

    os.chdir(os.path.dirname(settings["conf"]))
    with open(settings["conf"], encoding="utf-8") as f:
        said = yaml_load(f)
    hooks = list(said.get("hooks") or []) + [os.path.abspath(__file__)]
    config = load_config(settings["conf"], plugins=plugins(said.get("plugins")), theme={"name": "mkdocs"}, hooks=hooks,
                         site_dir=os.path.join(settings["scratch"], "site"), use_directory_urls=False, strict=False)
    config.plugins.run_event("startup", command="build", dirty=False)
    build(config)
    order = pages.pop("", [])
    names = [n for n in order if n in pages] + sorted(n for n in pages if n not in order)
    files = {}
    for base, _, below in os.walk(config["site_dir"]):
        for name in below:
            at = os.path.join(base, name)
            picture(files, os.path.relpath(at, config["site_dir"]), at)
    return {"tool": "MkDocs " + tool.__version__, "pages": [pages[n] for n in names], "files": files}


def plugins(said):
    """The plug-ins that make text, each with its settings."""
    from importlib.metadata import entry_points

    known = entry_points()
    known = known.select(group="mkdocs.plugins") if hasattr(known, "select") else known.get("mkdocs.plugins", [])
    known = {e.name for e in known}
    if isinstance(said, dict):
        said = [{k: v} for k, v in said.items()]
    kept = []
    for entry in said or []:
        name, options = (next(iter(entry.items()))) if isinstance(entry, dict) else (entry, None)
        plain = name.rsplit("/", 1)[-1]
        if plain in PLUGINS_DROPPED:
            continue
        if name not in known:
            lost.append(name)
            continue
        options = dict(options or {})
        if plain == "mkdocstrings":
            python = options.setdefault("handlers", {}).setdefault("python", {})
            shown = python.setdefault("options", {})
            shown["show_source"] = False
            for option in ("show_root_heading", "show_signature_annotations"):
                shown.setdefault(option, True)
            python.pop("inventories", None)  # of other projects, by the network
            python.pop("import", None)
        kept.append({name: options})
    return kept


def on_nav(nav, config, files):
    """Is a hook of MkDocs: keeps the order of pages."""
    import benchmint_docs

    benchmint_docs.pages[""] = [named(page.file) for page in nav.pages]
    return nav


def on_page_content(html, page, config, files):
    """Is a hook of MkDocs: keeps the text of each page."""
    import benchmint_docs

    name = named(page.file)
    at = os.path.relpath(page.file.abs_src_path, os.path.dirname(config["config_file_path"]))
    benchmint_docs.pages[name] = {"name": name, "title": str(page.title or ""), "html": html, "includes": [at]}
    return html


def named(file):
    return file.url[: -len(".html")] if file.url.endswith(".html") else file.url


def picture(files, name, at):
    if name.lower().endswith(PICTURES) and os.path.isfile(at) and os.path.getsize(at) <= MAX_PICTURE:
        with open(at, "rb") as f:
            files[name.replace(os.sep, "/")] = base64.b64encode(f.read()).decode()


if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    import benchmint_docs

    try:
        benchmint_docs.main()
    except (Exception, SystemExit) as e:
        import traceback

        traceback.print_exc()
        why = " ".join(str(e).split())
        print(f"{type(e).__name__}: {why}"[:300], file=sys.stderr, flush=True)
        sys.exit(1)
