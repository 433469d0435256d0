// What the figures one can touch have in common.
//
// A figure is an object: its title; what its arrow keys do (keys); its controls; the cursor, which
// names the entries of the state that the arrow keys and the pointer change; reach(state), how far
// they go; arithmetic, functions of numbers alone; draw(state), a string of SVG; say(state), the
// same in words. What has data-at="x,y" in the drawing sets the cursor when it is pointed at.
// Nothing here needs a page until mount() is called, so tests and the command that makes the
// pictures for paper use the same functions.
(() => {
  const WIDTH = 340; // units across a drawing: about the pixels of a narrow phone
  const figures = {};

  const escape = (text) => String(text).replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
  const number = (value) => (typeof value === "number" ? +value.toFixed(2) : escape(value));
  function shape(name, attributes, inside = "") {
    const list = Object.entries(attributes).map(([key, value]) => ` ${key}="${number(value)}"`);
    return `<${name}${list.join("")}>${inside}</${name}>`;
  }
  const svg = {
    rect: (x, y, width, height, fill, more = {}) =>
      shape("rect", { x, y, width, height, rx: 1.5, fill, ...more }),
    circle: (cx, cy, r, fill, more = {}) => shape("circle", { cx, cy, r, fill, ...more }),
    line: (x1, y1, x2, y2, stroke, more = {}) =>
      shape("line", { x1, y1, x2, y2, stroke, ...more }),
    path: (d, more) => shape("path", { d, fill: "none", ...more }),
    text: (x, y, words, more = {}) =>
      shape("text", { x, y, fill: "var(--tf-ink)", ...more }, escape(words)),
    sheet: (height, parts) =>
      `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${number(height)}"` +
      ` font-family="system-ui, sans-serif" font-size="12">\n${parts.flat(9).join("\n")}\n</svg>`,
  };

  function start(figure) {
    const state = { ...figure.at };
    for (const control of figure.controls) state[control.name] = control.start;
    return state;
  }

  // Keep the cursor inside the drawing, whatever the controls have made of it.
  function fit(figure, state) {
    const reach = figure.reach(state);
    figure.cursor.forEach((name, axis) => {
      state[name] = Math.max(0, Math.min(reach[axis] - 1, state[name]));
    });
    return state;
  }

  function element(parent, name, properties = {}, attributes = {}) {
    const made = Object.assign(document.createElement(name), properties);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    parent.append(made);
    return made;
  }

  function addControl(parent, control, state, changed) {
    const label = element(parent, "label");
    const caption = element(label, "span");
    const shown = (value) => (control.show ? control.show(value) : String(value));
    let input;
    if (control.options) {
      caption.textContent = control.label;
      input = element(label, "select");
      for (const [value, words] of control.options) {
        element(input, "option", { value, textContent: words });
      }
    } else {
      const { min, max } = control;
      input = element(label, "input", { type: "range", step: 1 }, { min, max });
    }
    input.name = control.name;
    const write = () => {
      input.value = state[control.name];
      if (control.options) return;
      caption.textContent = `${control.label}: ${shown(state[control.name])}`;
      input.setAttribute("aria-valuetext", shown(state[control.name]));
    };
    input.addEventListener("input", () => {
      state[control.name] = control.options ? input.value : Number(input.value);
      changed();
    });
    return write;
  }

  function mount(place) {
    const figure = figures[place.dataset.figure];
    if (!figure || place.classList.contains("live")) return;
    const state = start(figure);
    const box = element(place, "div", { className: "tf" }, { role: "group" });
    box.setAttribute("aria-label", `Figure to touch: ${figure.title}`);
    element(box, "p", { className: "tf-title", textContent: figure.title });
    const controls = element(box, "div", { className: "tf-controls" });
    const writers = figure.controls.map((control) =>
      addControl(controls, control, state, () => update()),
    );
    const board = element(box, "div", { className: "tf-board", tabIndex: 0 });
    const says = element(box, "p", { className: "tf-says" }, { role: "status" });
    element(box, "p", { className: "tf-keys", textContent: figure.keys });
    board.setAttribute("role", "application");
    board.setAttribute("aria-label", `${figure.title}. ${figure.keys}`);

    function update() {
      fit(figure, state);
      writers.forEach((write) => write());
      board.innerHTML = figure.draw(state);
      board.firstChild.setAttribute("aria-hidden", "true"); // the words below say it all
      const words = figure.say(state);
      if (says.textContent !== words) says.textContent = words;
    }
    function moveTo(places) {
      figure.cursor.forEach((name, axis) => {
        state[name] = places[axis];
      });
      update();
    }
    board.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
      const steps = step[event.key];
      if (!steps || (steps[1] && figure.cursor.length < 2)) return;
      event.preventDefault();
      moveTo(figure.cursor.map((name, axis) => state[name] + steps[axis]));
    });
    function point(event) {
      const under = document.elementFromPoint(event.clientX, event.clientY);
      const at = board.contains(under) && under.closest("[data-at]");
      if (at) moveTo(at.dataset.at.split(",").map(Number));
    }
    board.addEventListener("pointerdown", (event) => {
      board.setPointerCapture(event.pointerId); // the drawing under the finger is made anew
      point(event);
    });
    board.addEventListener("pointermove", point);
    update();
    place.classList.add("live");
  }

  const mountAll = () => document.querySelectorAll("[data-figure]").forEach(mount);
  window.touch = { figures, svg, start, fit, mount, mountAll, WIDTH };
  // Deferred scripts of the figures themselves run after this one and before this event.
  document.addEventListener("DOMContentLoaded", mountAll);
})();
