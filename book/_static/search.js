// The search: by section. The index (searchindex.js) is fetched when there is something to look for;
// it is a script, so that it is also found on a site that is opened from a folder.
"use strict";

const Search = (() => {
  const SHOWN = 20;
  const FAR = 700; // letters below its heading: words there are not on the screen
  const FAINT = 0.04; // of the first hit's score: what is below is left out
  // What a word is worth once where it stands, and how often it counts in the text.
  const ONCE = { title: 2.2, called: 2.2, above: 0.3 };
  const COUNTED = { text: 1, code: 0.5 };
  const TUNED = { k: 1.2, b: 0.6 }; // of BM25
  const WEAK = { part: 0.55, prefix: 0.5, synonym: 0.5, misspelt: 0.35 }; // beside the word itself
  const stemmer = new Stemmer();
  const stop = new Set([...stopwords, "how", "what", "why", "do", "does", "i", "my", "me", "can"]);
  const stem = (word) => (/^[a-z]+$/.test(word) ? stemmer.stemWord(word) : word);

  // The words of a text, stemmed, and the parts of names: CUDA_ERROR_NOT_FOUND is five words.
  function words(text) {
    const found = [];
    for (const [name] of text.matchAll(/[\p{L}\p{N}_]+/gu)) {
      const plain = name.toLowerCase();
      found.push({ word: stem(plain), whole: true });
      const parts = name.split(/_+|(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/).filter(Boolean);
      if (parts.length > 1)
        for (const part of parts) found.push({ word: stem(part.toLowerCase()), whole: false });
    }
    return found;
  }

  // Words in their order, between spaces, without those that say nothing; to look for phrases in.
  function order(found) {
    return ` ${found.filter((w) => w.whole && !stop.has(w.word)).map((w) => w.word).join(" ")} `;
  }

  // --- the index ---
  let sections, synonyms, postings, lengths, phrases; // of a section by its number, k

  function take(data) {
    synonyms = new Map();
    for (const [name, others] of Object.entries(data.synonyms))
      synonyms.set(words(name).map((w) => w.word).join(" "), others.map((o) => words(o)[0].word));
    postings = new Map(); // word: Map(section: how it stands there)
    lengths = [];
    phrases = []; // of each section, its title, other names and text as words in their order
    sections = data.sections.map((row, k) => {
      const [page, anchor, title, above, text, code, called, weight] = row;
      const section = { page, anchor, title, above, text, code, called, weight };
      const read = {};
      const note = (word) => {
        if (!postings.has(word)) postings.set(word, new Map());
        const places = postings.get(word);
        if (!places.has(k)) places.set(k, { once: 0, count: 0 });
        return places.get(k);
      };
      for (const [field, worth] of Object.entries(COUNTED)) {
        read[field] = words(section[field]);
        for (const { word } of read[field]) note(word).count += worth;
      }
      for (const [field, worth] of Object.entries(ONCE)) {
        read[field] = words(section[field]);
        for (const word of new Set(read[field].map((w) => w.word))) note(word).once += worth;
      }
      lengths.push(read.text.length);
      const names = called.split(";").map((name) => order(words(name)));
      phrases.push({ title: order(read.title), names, text: order(read.text) });
      return section;
    });
    lengths.mean = lengths.reduce((a, b) => a + b, 0) / lengths.length;
    loaded.resolve();
  }

  const loaded = {};
  loaded.promise = new Promise((resolve) => (loaded.resolve = resolve));
  function load() {
    if (load.begun) return loaded.promise;
    load.begun = true;
    const script = document.createElement("script");
    script.src = document.getElementById("search-results").dataset.index;
    script.onerror = () => say("The index of the search could not be fetched. Try again later.");
    document.head.append(script);
    return loaded.promise;
  }

  // --- ranking ---
  // Of two words, whether one is the other with a letter more, fewer, changed, or two exchanged.
  function near(a, b) {
    if (Math.abs(a.length - b.length) > 1) return false;
    let k = 0;
    while (k < a.length && a[k] === b[k]) k++;
    const [x, y] = [a.slice(k), b.slice(k)];
    return (
      x.slice(1) === y.slice(1) || x === y.slice(1) || x.slice(1) === y ||
      (x[0] === y[1] && x[1] === y[0] && x.slice(2) === y.slice(2))
    );
  }

  // What to look up for a word: [[word of the index, what a find is worth]].
  function readings({ word, whole }) {
    const known = postings.has(word);
    const found = known ? [[word, whole ? 1 : WEAK.part]] : [];
    for (const other of synonyms.get(word) ?? [])
      if (postings.has(other)) found.push([other, WEAK.synonym]);
    if (!known && word.length > 2 && !/\d/.test(word)) {
      const all = [...postings.keys()];
      const begun = all.filter((other) => other.startsWith(word)).slice(0, 20);
      found.push(...begun.map((other) => [other, WEAK.prefix]));
      if (!found.length && word.length > 4)
        found.push(...all.filter((o) => near(word, o)).slice(0, 5).map((o) => [o, WEAK.misspelt]));
    }
    return found;
  }

  // What it is worth that a question is a name, is part of it, or has it in it (with more than a word).
  function fits(whole, name, [is, part, has]) {
    if (!name.trim()) return 1;
    if (name === whole) return is;
    if (name.includes(whole)) return part;
    return name.trim().includes(" ") && whole.includes(name) ? has : 1;
  }

  function find(query) {
    let asked = words(query).filter(({ word }) => !stop.has(word));
    if (!asked.length) asked = words(query);
    const seen = new Set();
    asked = asked.filter(({ word }) => !seen.has(word) && seen.add(word));
    // Two words with a name of their own: "prefix sum" is a scan.
    const whole = order(words(query));
    const row = whole.trim().split(" ");
    for (let k = 0; k + 1 < row.length; k++)
      for (const other of synonyms.get(`${row[k]} ${row[k + 1]}`) ?? [])
        if (!seen.has(other) && seen.add(other)) asked.push({ word: other, whole: false });
    const scores = new Map();
    const met = new Map();
    let sought = 0;
    for (const one of asked) {
      const best = new Map(); // of a word's readings, each section counts the best
      let rarest = 0;
      for (const [word, worth] of readings(one)) {
        const counts = postings.get(word);
        const rare = Math.log(1 + (sections.length - counts.size + 0.5) / (counts.size + 0.5));
        rarest = Math.max(rarest, rare * worth);
        for (const [k, { once, count }] of counts) {
          const long = 1 - TUNED.b + (TUNED.b * lengths[k]) / lengths.mean;
          const often = (count * (TUNED.k + 1)) / (count + TUNED.k * long);
          const score = rare * worth * (often + once);
          if (score > (best.get(k)?.score ?? 0)) best.set(k, { score, met: rare * worth });
        }
      }
      sought += rarest;
      for (const [k, part] of best) {
        scores.set(k, (scores.get(k) ?? 0) + part.score);
        met.set(k, (met.get(k) ?? 0) + part.met);
      }
    }
    const found = [...scores].map(([k, score]) => {
      const share = sought ? met.get(k) / sought : 0;
      const { title, names, text } = phrases[k];
      score *= share ** 1.5 * sections[k].weight; // who has all the words goes first
      score *= fits(whole, title, [3, 1.6, 1.8]);
      score *= Math.max(...names.map((name) => fits(whole, name, [3, 1.4, 1.5])));
      if (row.length > 1 && text.includes(whole)) score *= 1.5;
      return { section: sections[k], score };
    });
    const marked = new Set(asked.flatMap((one) => readings(one).map(([word]) => word)));
    found.sort((a, b) => b.score - a.score);
    const hits = found.filter(({ score }) => score >= FAINT * found[0].score);
    return { hits, words: marked };
  }

  // --- the page ---
  const element = (name, text, attributes = {}) => {
    const made = document.createElement(name);
    made.append(...(Array.isArray(text) ? text : [text]));
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
  };

  // A piece of the text around the first words found, these marked.
  function excerpt(text, found) {
    const marks = [];
    for (const match of text.matchAll(/[\p{L}\p{N}_]+/gu))
      if (words(match[0]).some(({ word }) => found.has(word)))
        marks.push([match.index, match.index + match[0].length]);
    // Where most of them stand close together; `begin` is the first of these.
    const size = 180;
    const at = marks.map(([from]) => marks.filter(([other]) => other >= from && other < from + size));
    const best = at.reduce((a, b) => (b.length > a.length ? b : a), []);
    const begin = best[0]?.[0] ?? 0;
    let from = Math.max(0, begin - 40);
    if (from) from = text.indexOf(" ", from) + 1;
    const end = text.indexOf(" ", from + size + 40);
    const to = end < 0 ? text.length : end;
    const parts = [from ? "… " : ""];
    let last = from;
    for (const [a, b] of marks.filter(([a, b]) => a >= from && b <= to)) {
      parts.push(text.slice(last, a), element("mark", text.slice(a, b)));
      last = b;
    }
    return { parts: [...parts, text.slice(last, to), to < text.length ? " …" : ""], begin };
  }

  function say(...parts) {
    document.getElementById("search-results").replaceChildren(...parts);
  }

  function link(page, anchor, title) {
    const root = document.documentElement.dataset.content_root ?? "";
    return element("a", title, { href: `${root}${page}.html${anchor ? `#${anchor}` : ""}` });
  }

  // In a long section a browser that knows text fragments goes on to the words; others stay at the heading.
  function leadTo(title, text) {
    const [words] = text.match(/^\S+(?: [^\s.,:;()]+){0,4}/) ?? [];
    if (!words) return;
    const place = title.href;
    title.addEventListener("click", () => {
      title.href = `${place}:~:text=${encodeURIComponent(words).replaceAll("-", "%2D")}`;
      setTimeout(() => (title.href = place));
    });
  }

  const elsewhere = () =>
    element("ul", [
      element("li", [link("book/when-it-goes-wrong", "", "When it goes wrong"), ": error messages"]),
      element("li", [link("book/glossary", "", "Glossary"), ": what a word means"]),
      element("li", [link("book/index", "", "The chapters")]),
    ], { class: "elsewhere" });

  function show(query, { hits, words: found }) {
    if (!hits.length) {
      const text = `Nothing found for “${query.slice(0, 80)}”. Fewer words, or other ones? Or look here:`;
      return say(element("p", text), elsewhere());
    }
    const items = hits.slice(0, SHOWN).map(({ section }) => {
      const { parts, begin } = excerpt(section.text, found);
      const title = link(section.page, section.anchor, section.title);
      if (begin > FAR) leadTo(title, section.text.slice(begin));
      const where = element("span", section.above, { class: "where" });
      return element("li", [title, where, element("p", parts, { class: "context" })]);
    });
    const count = hits.length > SHOWN ? `${SHOWN} of ${hits.length}` : `${hits.length}`;
    const summary = element("p", `${count} places found for “${query.slice(0, 80)}”.`);
    say(summary, element("ul", items, { class: "search" }));
  }

  async function start() {
    const query = (new URLSearchParams(location.search).get("q") ?? "").trim();
    const field = document.querySelector(".bd-search-container input[type=search]");
    for (const each of document.querySelectorAll("input[name=q]")) each.value = query;
    field?.focus();
    if (!/[\p{L}\p{N}]/u.test(query))
      return say(element("p", "Type a word, or paste an error message. Or look here:"), elsewhere());
    say(element("p", "Searching …"));
    await load();
    show(query, find(query));
  }

  return { start, take, find };
})();
document.addEventListener("DOMContentLoaded", Search.start);
