"use strict";
// Without this script the page shows every view; with it the table of tasks is filtered and
// sorted, and what is printed is open.
(() => {
  const byID = (id) => document.getElementById(id);
  const list = byID("list").tBodies[0];
  const rows = [...list.rows];
  const name = document.title;

  // The statement of a task is searched too, where it stands.
  const texts = new Map();
  const textOf = (row) => {
    if (!texts.has(row)) {
      const id = decodeURIComponent(row.querySelector("a").getAttribute("href").slice(1));
      const statement = byID(id).querySelector(".statement");
      texts.set(row, (row.textContent + "\n" + statement.textContent).toLowerCase());
    }
    return texts.get(row);
  };
  const value = (id) => byID(id) ? byID(id).value : "";

  // A model without a verdict asks for the tasks that it has an answer of.
  const answers = (row, model, verdict) => {
    const word = verdict.replaceAll(" ", "_");
    return (row.dataset.verdicts || "").split(" ").some((v) => {
      const at = v.indexOf(":"), of = v.slice(at + 1);
      return (model === "" || v.slice(0, at) === model) && (word === "" ? of !== "NONE" : of === word);
    });
  };

  const filter = () => {
    const words = value("text").toLowerCase().split(/\s+/).filter(Boolean);
    const kind = value("kind"), language = value("language"), model = value("model"), verdict = value("verdict");
    let shown = 0;
    for (const row of rows) {
      const fits = (kind === "" || row.dataset.kind === kind) && (language === "" || row.dataset.language === language) &&
        (model + verdict === "" || answers(row, model, verdict)) && words.every((w) => textOf(row).includes(w));
      row.hidden = !fits;
      if (fits) shown++;
    }
    const all = `${rows.length} ${rows.length === 1 ? "task" : "tasks"}`;
    byID("shown").value = shown === rows.length ? all : `${shown} of ${all}`;
  };

  const sort = (head) => {
    const down = head.getAttribute("aria-sort") === "ascending";
    for (const th of head.parentNode.cells) th.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const at = head.cellIndex, number = head.dataset.sort === "number";
    const keys = new Map(rows.map((r) => [r, number ? parseFloat(r.cells[at].textContent) : r.cells[at].textContent]));
    const order = (a, b) => keys.get(a) < keys.get(b) ? -1 : keys.get(a) > keys.get(b) ? 1 : 0;
    const sorted = [...rows].sort((a, b) => down ? order(b, a) : order(a, b));
    list.append(...sorted);
  };

  for (const head of byID("list").tHead.rows[0].cells) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    button.addEventListener("click", () => sort(head));
    head.append(button);
  }

  // The view that the address names, said in title and navigation.
  const view = () => {
    const section = document.querySelector("main > section:target") || byID("overview");
    const title = section.querySelector("h1").textContent;
    document.title = section.id === "overview" ? name : title + " – " + name;
    for (const a of document.querySelectorAll("header nav a")) {
      if (a.getAttribute("href") === "#" + section.id) a.setAttribute("aria-current", "page");
      else a.removeAttribute("aria-current");
    }
  };

  const controls = [...document.querySelectorAll("#filters input, #filters select")];
  for (const c of controls) c.addEventListener("input", filter);
  byID("reset").addEventListener("click", () => {
    for (const c of controls) c.value = "";
    filter();
  });
  byID("filters").hidden = false;
  window.addEventListener("hashchange", view);
  window.addEventListener("load", view); // before, the address has no target
  window.addEventListener("beforeprint", () => {
    const section = document.querySelector("main > section:target") || byID("overview");
    for (const d of section.querySelectorAll("details")) d.open = true;
  });
  filter();
})();
