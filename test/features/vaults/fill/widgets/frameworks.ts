import type { Widget } from "./widgets.ts";

const react = (component: string): string => `<div id=app></div><script src="/vendor/react.js"></script><script>
  const { createElement: h, useState, useEffect, useRef } = React;
  ${component}
  ReactDOM.createRoot(document.getElementById("app")).render(h(App));
</script>`;
const vue = (
  setup: string,
  template: string,
): string => `<div id=app>${template}</div><script src="/vendor/vue.js"></script><script>
  Vue.createApp({ data: () => (window.state = Vue.reactive(${setup})) }).mount("#app");
</script>`;
const element = (mode: string, shadow: string, more = ""): string => `<x-field id=host></x-field><script>
  customElements.define("x-field", class extends HTMLElement {
    connectedCallback() { const root = this.attachShadow({ mode: "${mode}" }); root.innerHTML = ${JSON.stringify(shadow)}; window.root = root; ${more} }
  });
</script>`;

/** Fields that a framework or a component owns. */
export const frameworks: Widget[] = [
  {
    name: "Controlled input of React",
    by: "React 19: `value` and `onChange`",
    html: react(
      `const App = () => { const [v, set] = useState(""); window.state = v; return h("input", { id: "f", value: v, onChange: (e) => set(e.target.value) }); };`,
    ),
    values: { "#f": "ada" },
    says: "completed",
    proof: 'state === "ada"',
  },
  {
    name: "Uncontrolled input of React",
    by: "React 19: `defaultValue` and `ref`",
    html: react(
      `const App = () => { const r = useRef(); window.read = () => r.current.value; return h("input", { id: "f", defaultValue: "x", ref: r }); };`,
    ),
    values: { "#f": "ada" },
    says: "completed",
    proof: 'read() === "ada"',
  },
  {
    name: "Controlled select of React",
    by: "React 19: `<select value>`",
    html: react(
      `const App = () => { const [v, set] = useState("de"); window.state = v; return h("select", { id: "f", value: v, onChange: (e) => set(e.target.value) }, h("option", { value: "de" }), h("option", { value: "fr" }, "France")); };`,
    ),
    values: { "#f": "fr" },
    says: "completed",
    proof: 'state === "fr"',
  },
  {
    name: "Form of React that checks on blur",
    by: "React 19: `onBlur` sets what is touched",
    html: react(
      `const App = () => { const [v, set] = useState(""); const [t, touch] = useState(false); window.state = [v, t]; return h("input", { id: "f", value: v, onChange: (e) => set(e.target.value), onBlur: () => touch(true) }); };`,
    ),
    values: { "#f": "ada" },
    says: "completed",
    proof: 'state.join() === "ada,true"',
  },
  {
    name: "Field of React that is made anew with each render, with its value",
    by: "React 19: a new `key` after the blur",
    html: react(
      `const App = () => { const [v, set] = useState(""); const [k, next] = useState(0); window.state = v; return h("input", { key: k, id: "f", value: v, onChange: (e) => set(e.target.value), onBlur: () => next(1) }); };`,
    ),
    values: { "#f": "ada" },
    says: "completed",
    proof: 'state === "ada" && document.querySelector("#f").value === "ada"',
  },
  {
    name: "Field of React that forgets its value",
    by: "React 19: an effect resets the state",
    html: react(
      `const App = () => { const [v, set] = useState(""); useEffect(() => { if (v.length === 3) setTimeout(() => set(""), 50); }, [v]); return h("input", { id: "f", value: v, onChange: (e) => set(e.target.value) }); };`,
    ),
    values: { "#f": "ada" },
    says: { failed: "execution_failed" },
  },
  {
    name: "Controlled input that stays as it is",
    by: "React 19: `value` without a handler that sets it",
    html: react(`const App = () => h("input", { id: "f", value: "", onChange: () => {} });`),
    values: { "#f": "ada" },
    says: { failed: "execution_failed" },
  },
  {
    name: "Model of Vue",
    by: "Vue 3: `v-model`",
    html: vue('{ v: "" }', "<input id=f v-model=v>"),
    values: { "#f": "ada" },
    says: "completed",
    proof: 'state.v === "ada"',
  },
  {
    name: "Lazy model of Vue",
    by: "Vue 3: `v-model.lazy`",
    html: vue('{ v: "" }', "<input id=f v-model.lazy=v>"),
    values: { "#f": "ada" },
    says: "completed",
    proof: 'state.v === "ada"',
  },
  {
    name: "Trimmed model of Vue",
    by: "Vue 3: `v-model.trim`",
    html: vue('{ v: "" }', "<input id=f v-model.trim=v>"),
    values: { "#f": "ada" },
    says: "completed",
    proof: 'state.v === "ada"',
  },
  {
    name: "Model as Angular keeps it",
    by: "`input` and `blur` events; the button waits for both",
    html: `<input id=f><button disabled>in</button><script>
      const f = document.querySelector("#f"); let v = "", touched = false;
      const render = () => Promise.resolve().then(() => { document.querySelector("button").disabled = v === "" || !touched; });
      f.addEventListener("input", () => { v = f.value; render(); }); f.addEventListener("blur", () => { touched = true; render(); });
    </script>`,
    values: { "#f": "ada" },
    says: "completed",
    proof: '!document.querySelector("button").disabled',
  },
  {
    name: "Field of a custom element",
    by: "open shadow root",
    html: element("open", "<input id=f>"),
    values: { "#f": "ada" },
    says: "completed",
    proof: 'root.querySelector("#f").value === "ada"',
  },
  {
    name: "Field inside of the element that the selector means",
    by: "open shadow root, by its host",
    html: element("open", "<label>User<input></label>"),
    values: { "#host": "ada" },
    says: "completed",
    proof: 'root.querySelector("input").value === "ada"',
  },
  {
    name: "Element that renders like Lit",
    by: "open shadow root; `@input` asks for a render in a microtask",
    html: element(
      "open",
      "<input id=f>",
      'const f = root.querySelector("input"); let v = ""; f.addEventListener("input", () => { v = f.value; queueMicrotask(() => { if (f.value !== v) f.value = v; window.state = v; }); });',
    ),
    values: { "#f": "ada" },
    says: "completed",
    proof: 'state === "ada"',
  },
  {
    name: "Field in a closed shadow root",
    by: "closed shadow root",
    html: element("closed", "<input id=f>"),
    values: { "#f": "ada" },
    says: { refused: "element_not_found" },
  },
];
