// Definitions on glossary links: the theme's own tooltips, on hover and on keyboard focus; on touch
// the first tap shows the tip, the second follows the link. Without this script the browser shows
// them as plain titles.
window.addEventListener("load", () => {
  const touch = matchMedia("(hover: none)").matches;
  let shown = null;
  document.querySelectorAll("a.glossary-link").forEach((link) => {
    const tip = new bootstrap.Tooltip(link, touch ? { trigger: "manual" } : {});
    if (!touch) return;
    link.addEventListener("click", (event) => {
      if (shown === tip) return;
      event.preventDefault();
      event.stopPropagation();
      shown?.hide();
      (shown = tip).show();
    });
  });
  document.addEventListener("click", () => {
    shown?.hide();
    shown = null;
  });
});

// The contents beside the page mark the section that is read, from where its heading is. The theme's own
// mark waits for headings to come by and stays behind after a jump; without this id it finds nothing to do.
(() => {
  const contents = document.getElementById("pst-page-toc-nav");
  if (!contents) return;
  contents.removeAttribute("id");
  const READ = 130; // px below the top of the window: a heading above is that of the text one reads
  const links = [...contents.querySelectorAll("a")].filter((link) => link.hash);
  const sections = links.map((link) => document.getElementById(decodeURIComponent(link.hash.slice(1))));
  const entries = [...contents.querySelectorAll(".toc-entry")];
  let marked = null;

  function current() {
    const tops = sections.map((section) => section?.getBoundingClientRect().top ?? Infinity);
    const root = document.documentElement;
    if (root.scrollTop + innerHeight >= root.scrollHeight - 2) {
      // At the end of the page a heading cannot come further up.
      const asked = links.findIndex((link) => link.hash === location.hash);
      if (tops[asked] >= 0 && tops[asked] < innerHeight) return links[asked];
      return links[tops.findLastIndex((top) => top < innerHeight / 2)];
    }
    return links[tops.findLastIndex((top) => top <= READ)];
  }
  function mark() {
    const link = current();
    if (link === marked) return;
    marked = link;
    links.forEach((other) => {
      other.classList.toggle("active", other === link);
      if (other === link) other.setAttribute("aria-current", "true");
      else other.removeAttribute("aria-current");
    });
    entries.forEach((entry) => entry.classList.toggle("active", entry.contains(link ?? null)));
    const box = contents.closest(".bd-sidebar-secondary");
    if (!link || !box) return;
    const [seen, place] = [box.getBoundingClientRect(), link.getBoundingClientRect()];
    if (place.bottom > seen.bottom) box.scrollTop += place.bottom - seen.bottom + 40;
    if (place.top < seen.top) box.scrollTop -= seen.top - place.top + 40;
  }
  let waits = false;
  const soon = () => {
    if (waits) return;
    waits = true;
    requestAnimationFrame(() => {
      waits = false;
      mark();
    });
  };
  for (const event of ["scroll", "scrollend", "resize", "hashchange", "load"])
    window.addEventListener(event, soon, { passive: true });
  soon();
})();

// A table or a formula wider than the page scrolls in its own box. The keyboard can scroll what it can
// reach. All sizes are read before anything is changed, so that the page is laid out once.
function reachWideBoxes() {
  const boxes = [...document.querySelectorAll(".bd-article :is(table, div.math)")];
  const wide = boxes.map((box) => box.scrollWidth > box.clientWidth);
  boxes.forEach((box, k) => {
    if (wide[k]) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  });
}
window.addEventListener("resize", reachWideBoxes);
window.addEventListener("load", reachWideBoxes);

// One stop of the tab key for all copy buttons; arrow keys go from one to the next.
window.addEventListener("load", () => {
  const buttons = [...document.querySelectorAll("button.copybtn")];
  buttons.forEach((button, k) => {
    button.tabIndex = -1;
    button.addEventListener("keydown", (event) => {
      const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
      const next = buttons[k + step];
      if (!next) return;
      event.preventDefault();
      button.tabIndex = -1;
      next.tabIndex = 0;
      next.focus();
    });
  });
  const first = buttons.find((button) => button.checkVisibility());
  if (first) first.tabIndex = 0;
});

// A figure is enlarged by a press, to twice its width or that of the window, and back by another.
window.addEventListener("load", () => {
  const figures = document.querySelectorAll(".cell_output img");
  figures.forEach((figure) => figure.classList.add("enlarges"));
  document.querySelector(".bd-article")?.addEventListener("click", (event) => {
    if (!event.target.matches("img.enlarges")) return;
    const dialog = document.createElement("dialog");
    dialog.className = "enlarged";
    dialog.setAttribute("aria-label", "The figure, enlarged");
    const copy = event.target.cloneNode();
    copy.className = "";
    copy.width = Math.max(innerWidth, 2 * event.target.clientWidth);
    copy.removeAttribute("height");
    dialog.append(copy);
    dialog.addEventListener("click", () => dialog.close());
    dialog.addEventListener("close", () => dialog.remove());
    document.body.append(dialog);
    dialog.showModal();
  });
});

// On a phone a fade shows where a line of code goes on.
window.addEventListener("load", () => {
  if (!matchMedia("(max-width: 600px)").matches) return;
  const seen = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      if (!isIntersecting) continue;
      const mark = () => {
        const cut = target.scrollLeft + target.clientWidth < target.scrollWidth - 2;
        target.parentElement.classList.toggle("cut", cut);
      };
      mark();
      target.addEventListener("scroll", mark, { passive: true });
      seen.unobserve(target);
    }
  });
  document.querySelectorAll(".bd-article .highlight > pre").forEach((pre) => seen.observe(pre));
});

// The pages of results and receipts: every column sorts, numbers as numbers; rows know their columns' names,
// and are cards on a phone.
window.addEventListener("DOMContentLoaded", () => {
  if (!/\/generated\/(measured|status)\.html$/.test(location.pathname)) return;
  document.querySelectorAll(".bd-article table").forEach((table) => {
    table.classList.add("results");
    const heads = [...table.querySelectorAll("thead th")];
    const body = table.tBodies[0];
    const text = (row, k) => row.cells[k].textContent.trim();
    for (const row of body.rows)
      heads.forEach((head, k) => (row.cells[k].dataset.label = head.textContent.trim()));
    heads.forEach((head, k) => {
      const button = document.createElement("button");
      button.className = "sort";
      button.textContent = head.textContent.trim();
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") === "ascending";
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const value = (row) => parseFloat(text(row, k).replaceAll(",", ""));
        const rows = [...body.rows].sort((a, b) => {
          const [x, y] = [value(a), value(b)];
          if (isNaN(x) !== isNaN(y)) return isNaN(x) - isNaN(y) || 0;
          const order = isNaN(x) ? text(a, k).localeCompare(text(b, k)) : x - y;
          return down ? -order : order;
        });
        body.append(...rows);
      });
    });
  });
});

// Paper is white: a page is printed in its light colours.
let shown;
window.addEventListener("beforeprint", () => {
  shown = document.documentElement.dataset.theme;
  document.documentElement.dataset.theme = "light";
});
window.addEventListener("afterprint", () => {
  document.documentElement.dataset.theme = shown;
});
