// A reader's marks: chapters read and exercises done. They are kept in this browser and go nowhere.
// A browser that keeps nothing shows no marks to set.
(() => {
  const KEY = "from-kernel-to-network.progress";
  const CHAPTER = /\/notebooks\/(\d\d)_\w+\.html$/;

  function storage() {
    try {
      const store = window.localStorage;
      store.setItem(`${KEY}.try`, "1");
      const kept = store.getItem(`${KEY}.try`) === "1";
      store.removeItem(`${KEY}.try`);
      return kept ? store : null;
    } catch {
      return null;
    }
  }
  const store = storage();
  if (!store) return;

  // {chapter: {read: true, done: [exercises], of: how many exercises it has}}
  function load() {
    try {
      const found = JSON.parse(store.getItem(KEY));
      return found?.constructor === Object ? found : {};
    } catch {
      return {}; // somebody else's text: begin anew
    }
  }
  function entry(all, chapter) {
    const { read, done, of } = all[chapter] ?? {};
    return { read: read === true, done: Array.isArray(done) ? done : [], of: Number(of) || 0 };
  }
  function save(chapter, change) {
    const all = load();
    all[chapter] = { ...entry(all, chapter), ...change(entry(all, chapter)) };
    const { read, done } = all[chapter];
    if (!read && !done.length) delete all[chapter];
    try {
      if (Object.keys(all).length) store.setItem(KEY, JSON.stringify(all));
      else store.removeItem(KEY);
    } catch {
      // Full or refused since: the marks of this page stay until it is left.
    }
  }

  function element(name, properties, ...children) {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  }

  // A small mark beside a chapter in the sidebar, and the same in words for those who listen.
  function markSidebar() {
    const all = load();
    document.querySelectorAll(".bd-sidebar-primary .progress-mark").forEach((old) => old.remove());
    document.querySelectorAll(".bd-sidebar-primary a[href]").forEach((link) => {
      const chapter = CHAPTER.exec(new URL(link.href, location.href).pathname)?.[1];
      if (!chapter || !all[chapter]) return;
      const { read, done, of } = entry(all, chapter);
      const shown = [];
      const words = [];
      if (read) [shown, words].forEach((list, k) => list.push(["✓", "read"][k]));
      if (done.length) {
        shown.push(`${done.length}/${of}`);
        words.push(`${done.length} of ${of} exercises done`);
      }
      const mark = element("span", { className: "progress-mark", textContent: shown.join(" ") });
      mark.setAttribute("role", "img");
      mark.setAttribute("aria-label", words.join(", "));
      mark.title = words.join(", ");
      link.append(mark);
    });
  }

  function addMarks(article, chapter) {
    const headings = [...article.querySelectorAll("h3")].flatMap((heading) => {
      const number = /^Exercise (\d+\.\d+)\b/.exec(heading.textContent)?.[1];
      return number ? [{ heading, number }] : [];
    });
    const boxes = [];
    for (const { heading, number } of headings) {
      const input = element("input", { type: "checkbox", name: number });
      input.addEventListener("change", () => {
        save(chapter, ({ done }) => {
          const others = done.filter((other) => other !== number);
          return { done: input.checked ? [...others, number] : others, of: headings.length };
        });
        markSidebar();
      });
      const words = element("span", { textContent: `I have done exercise ${number}` });
      heading.after(element("label", { className: "progress-done" }, input, words));
      boxes.push(input);
    }

    const read = element("input", { type: "checkbox", name: "read" });
    read.addEventListener("change", () => {
      save(chapter, () => ({ read: read.checked, of: headings.length }));
      markSidebar();
    });
    const says = element("p", { className: "progress-says" });
    says.setAttribute("role", "status");
    const forget = element("button", { type: "button", textContent: "Forget all my marks" });
    forget.addEventListener("click", () => {
      store.removeItem(KEY);
      show();
      says.textContent = "All marks of all chapters are forgotten. This browser keeps none.";
    });
    const words = element("span", { textContent: `I have read chapter ${chapter}` });
    const box = element(
      "section",
      { className: "progress-box" },
      element("label", { className: "progress-done" }, read, words),
      element("p", { textContent: "Your marks are kept in this browser alone, and sent nowhere." }),
      forget,
      says,
    );
    box.setAttribute("aria-label", "Your marks");
    article.append(box);

    function show() {
      const { read: isRead, done } = entry(load(), chapter);
      read.checked = isRead;
      for (const input of boxes) input.checked = done.includes(input.name);
      markSidebar();
    }
    show();
    // Another tab, or this page when the browser brings it back as it was left.
    window.addEventListener("storage", show);
    window.addEventListener("pageshow", show);
  }

  const chapter = CHAPTER.exec(location.pathname)?.[1];
  const article = document.querySelector("article.bd-article");
  if (chapter && article) addMarks(article, chapter);
  else markSidebar();
})();
