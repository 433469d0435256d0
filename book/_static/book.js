// Definitions on glossary links: the theme's own tooltips, on hover and on keyboard focus.
// Without this script the browser shows them as plain titles.
window.addEventListener("load", () => {
  document.querySelectorAll("a.glossary-link").forEach((link) => new bootstrap.Tooltip(link));
});
