// Definitions on glossary links: the theme's own tooltips, on hover and on keyboard focus.
// Without this script the browser shows them as plain titles.
window.addEventListener("load", () => {
  document.querySelectorAll("a.glossary-link").forEach((link) => new bootstrap.Tooltip(link));
});

// A table wider than the page scrolls in its own box. The keyboard can scroll what it can reach.
for (const event of ["load", "resize"]) {
  window.addEventListener(event, () => {
    document.querySelectorAll(".bd-article table").forEach((table) => {
      if (table.scrollWidth > table.clientWidth) table.tabIndex = 0;
      else table.removeAttribute("tabindex");
    });
  });
}

// Paper is white: a page is printed in its light colours.
let shown;
window.addEventListener("beforeprint", () => {
  shown = document.documentElement.dataset.theme;
  document.documentElement.dataset.theme = "light";
});
window.addEventListener("afterprint", () => {
  document.documentElement.dataset.theme = shown;
});
