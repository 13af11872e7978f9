import { signal } from "@preact/signals";

const themes = ["system", "light", "dark"] as const;
type Theme = (typeof themes)[number];

const name = "browserpool-theme";

const stored = (): Theme => themes.find((each) => each === localStorage.getItem(name)) ?? "system";

const theme = signal<Theme>(stored());

const set = (wanted: Theme): void => {
  theme.value = wanted;
  if (wanted === "system") {
    localStorage.removeItem(name);
    delete document.documentElement.dataset.theme;
  } else {
    localStorage.setItem(name, wanted);
    document.documentElement.dataset.theme = wanted;
  }
};

set(theme.value);

/** Dark, light, or as the system has it; kept in this browser. */
export const ThemeChoice = () => (
  <select
    class="theme"
    aria-label="Colours"
    value={theme.value}
    onChange={({ currentTarget }) => set(themes.find((each) => each === currentTarget.value) ?? "system")}
  >
    <option value="system">System colours</option>
    <option value="light">Light</option>
    <option value="dark">Dark</option>
  </select>
);
