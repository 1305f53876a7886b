"use strict";
// The form of a page for reviewers. What it knows is kept by the browser under the name of the
// dataset, by reviewer and task; a file is written by download, and nothing else leaves the page.
(() => {
  const byID = (id) => document.getElementById(id);
  const bar = byID("review"), form = byID("form"), note = byID("note"), who = byID("who");
  const columns = bar.dataset.columns.split(",");
  const sections = [...document.querySelectorAll("main > section.task")];
  const choices = [...form.querySelectorAll("input[type=radio]")];
  const codes = choices.map((c) => c.value).filter((v) => v !== "accept");
  const cells = new Map([...document.querySelectorAll("#list td.mine")].map((c) => [c.dataset.instance, c]));
  const say = (text) => { byID("said").value = text; };

  const place = "benchmint review of " + bar.dataset.dataset;
  let state = { who: "", by: {} }, kept = true, unsaved = false;
  const recall = () => {
    try {
      const text = localStorage.getItem(place);
      if (text) state = JSON.parse(text);
    } catch {
      kept = false;
    }
  };
  const keep = () => {
    unsaved = true;
    try {
      localStorage.setItem(place, JSON.stringify(state));
    } catch {
      kept = false;
    }
    byID("unkept").hidden = kept;
  };

  const mine = () => state.by[state.who] ??= {};
  const view = () => sections.find((s) => "#" + s.id === location.hash); // :target comes later
  const reviewed = (section) => Boolean(mine()[section.dataset.instance]?.verdict);
  const today = () => new Date().toLocaleDateString("sv"); // YYYY-MM-DD, of this place

  const show = () => {
    const section = view(), named = state.who !== "";
    const r = section && named && mine()[section.dataset.instance] || { verdict: "", code: "", note: "" };
    who.value = state.who;
    form.hidden = !section;
    form.disabled = !named;
    byID("unnamed").hidden = named;
    for (const c of choices) c.checked = c.value === (r.verdict === "refuse" ? r.code : r.verdict);
    note.value = r.note;
    let done = 0;
    for (const s of sections) {
      const its = named && mine()[s.dataset.instance], cell = cells.get(s.dataset.instance);
      cell.textContent = its && its.verdict ? (its.verdict === "refuse" ? its.code : its.verdict) : "";
      if (cell.textContent) done++;
    }
    byID("progress").value = done;
    byID("done").value = `${done} of ${sections.length} reviewed`;
    byID("unkept").hidden = kept;
  };

  // write changes the review of the task in view.
  const write = (change) => {
    const section = view();
    if (!section || state.who === "") return;
    const r = mine()[section.dataset.instance] ??= { verdict: "", code: "", note: "" };
    Object.assign(r, change, { date: today() });
    if (!r.verdict && !r.note) delete mine()[section.dataset.instance];
    keep();
    show();
  };

  const choose = (c) => write(c.value === "accept" ? { verdict: "accept", code: "" } : { verdict: "refuse", code: c.value });

  const go = (section) => {
    if (!section) return;
    location.hash = "#" + section.id;
    show(); // hashchange comes later
  };
  const next = () => {
    const at = sections.indexOf(view()) + 1;
    const open = [...sections.slice(at), ...sections.slice(0, at)].find((s) => !reviewed(s));
    if (open) go(open);
    else say("All tasks are reviewed: save the file.");
  };

  const quoted = (text) => /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  const save = () => {
    const all = Object.entries(mine()).filter(([, r]) => r.verdict).sort(([a], [b]) => a < b ? -1 : 1);
    if (state.who === "" || all.length === 0) return say("There is no review to save.");
    const rows = all.map(([id, r]) => ({ ...r, instance_id: id, who: state.who }));
    const lines = [columns, ...rows.map((r) => columns.map((c) => r[c]))].map((fields) => fields.map(quoted).join(",") + "\n");
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob(lines, { type: "text/csv" }));
    link.download = `reviews-${state.who.replace(/[^\p{L}\p{N}]+/gu, "-")}.csv`;
    link.click();
    unsaved = false;
    say(`Saved ${all.length} of ${sections.length} as ${link.download}.`);
  };

  // parse reads CSV into rows of fields.
  const parse = (text) => {
    const rows = [[""]];
    let inside = false;
    for (let i = 0; i < text.length; i++) {
      const c = text[i], row = rows[rows.length - 1];
      if (inside && c === '"' && text[i + 1] === '"') row[row.length - 1] += text[i++];
      else if (c === '"') inside = !inside;
      else if (inside) row[row.length - 1] += c;
      else if (c === ",") row.push("");
      else if (c === "\n") rows.push([""]);
      else if (c !== "\r") row[row.length - 1] += c;
    }
    return rows.filter((r) => r.length > 1 || r[0] !== "");
  };

  // load adds the reviews of a file. What the page has of the same task and reviewer stays.
  const load = (name, text) => {
    const [head = [], ...rows] = parse(text.replace(/^\uFEFF/, ""));
    const lacks = columns.filter((c) => !head.includes(c));
    if (lacks.length) return say(`${name} is not a file of reviews: it has no column ${lacks.join(", ")}.`);
    const all = rows.map((r) => Object.fromEntries(head.map((c, i) => [c, (r[i] ?? "").trim()])));
    const wrong = all.findIndex((r) => !r.instance_id || !r.who || !(r.verdict === "accept" ? r.code === "" : r.verdict === "refuse" && codes.includes(r.code)));
    if (wrong >= 0) return say(`${name}: row ${wrong + 2} is not a review.`);
    const known = new Set(sections.map((s) => s.dataset.instance));
    let added = 0, stayed = 0, strange = 0;
    for (const { instance_id: id, who: by, verdict, code, date, note } of all) {
      const theirs = state.by[by] ??= {};
      if (theirs[id]?.verdict) {
        stayed++;
        continue;
      }
      theirs[id] = { verdict, code, date, note };
      added++;
      if (!known.has(id)) strange++;
    }
    if (state.who === "" && all.length) state.who = all[0].who;
    keep();
    show();
    say(`${name}: ${added} loaded` + (stayed ? `, ${stayed} that the page has stay` : "") +
      (strange ? `, ${strange} of tasks that this page does not have: they stay in the file that you save` : "") + ".");
  };

  for (const c of choices) c.addEventListener("change", () => choose(c));
  note.addEventListener("input", () => write({ note: note.value }));
  byID("undo").addEventListener("click", () => write({ verdict: "", code: "", note: "" }));
  byID("next").addEventListener("click", next);
  byID("save").addEventListener("click", save);
  byID("load").addEventListener("change", async (e) => {
    const file = e.target.files[0];
    if (file) load(file.name, await file.text());
    e.target.value = "";
  });
  who.addEventListener("change", () => {
    const name = who.value.trim();
    if (/[@\n]/.test(name)) say("Write a name or a handle, without an address: it stands in the dataset.");
    else {
      state.who = name;
      keep();
      say("");
    }
    show();
  });

  document.addEventListener("keydown", (e) => {
    if (e.target === note && e.key === "Escape") return note.blur();
    if (e.ctrlKey || e.metaKey || e.altKey || e.target.matches("textarea, select, input:not([type=radio])")) return;
    const section = view(), at = sections.indexOf(section);
    const choice = e.key === "a" ? choices[0] : choices[Number(e.key)];
    if (e.key === "n") next();
    else if (e.key === "j") go(sections[at + 1]);
    else if (e.key === "k") go(sections[at - 1]);
    else if (e.key === "c" && section && !form.disabled) note.focus();
    else if (choice && e.key !== "0" && section && !form.disabled) choose(choice);
    else return;
    e.preventDefault();
  });

  window.addEventListener("storage", () => { recall(); show(); }); // another tab of this page
  window.addEventListener("beforeunload", (e) => { if (!kept && unsaved) e.preventDefault(); });
  window.addEventListener("hashchange", show);
  window.addEventListener("load", show); // before, the address has no target
  recall();
  bar.hidden = false;
  byID("progress").max = sections.length;
  show();
})();
