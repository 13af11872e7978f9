/**
 * The systems that the set-up knows: how somebody installs the missing programs there. Pure; `test/setup` has tables of
 * `/etc/os-release` and of what is said.
 */

/** @typedef {"apt" | "dnf" | "zypper" | "pacman" | "brew"} PackageManager */

/** Which package manager a distribution has, by the ids of its os-release and of those that it is like. @type {{ [id: string]: PackageManager }} */
const managerOf = {
  debian: "apt",
  ubuntu: "apt",
  fedora: "dnf",
  rhel: "dnf",
  centos: "dnf",
  suse: "zypper",
  opensuse: "zypper",
  arch: "pacman",
};

/** The command to which the names of packages are added. @type {{ [manager in PackageManager]: string }} */
const commandOf = {
  apt: "sudo apt-get update && sudo apt-get install -y --no-install-recommends",
  dnf: "sudo dnf install -y",
  zypper: "sudo zypper install -y",
  pacman: "sudo pacman -S --needed",
  brew: "brew install",
};

/**
 * The package of each program, by package manager; a program without an entry has a package of its own name. "" where
 * there is none.
 * @type {{ [program: string]: { [manager in PackageManager]?: string } }}
 */
const packages = {
  "redis-server": { apt: "redis-server", dnf: "valkey-compat-redis", zypper: "redis", pacman: "valkey", brew: "redis" },
  "chromium-headless-shell": { dnf: "chromium-headless", zypper: "", pacman: "", brew: "" },
  Xvfb: {
    apt: "xvfb",
    dnf: "xorg-x11-server-Xvfb",
    zypper: "xorg-x11-server-Xvfb",
    pacman: "xorg-server-xvfb",
    brew: "",
  },
  ip: { apt: "iproute2", dnf: "iproute", zypper: "iproute2", pacman: "iproute2", brew: "" },
  bwrap: { apt: "bubblewrap", dnf: "bubblewrap", zypper: "bubblewrap", pacman: "bubblewrap", brew: "" },
  ffmpeg: { dnf: "ffmpeg-free", zypper: "ffmpeg-7" },
  // Arch has it in the package of Chromium.
  chromedriver: { apt: "chromium-driver", pacman: "" },
  // With python3 itself, and with ensurepip, which Debian takes out of that.
  python3: { apt: "python3-venv" },
};

/**
 * The fields of an os-release file: `ID=debian` → `{ ID: "debian" }`. Quotes are taken away.
 * @param {string} text
 * @returns {{ [field: string]: string | undefined }}
 */
const readOsRelease = (text) =>
  Object.fromEntries(
    [...text.matchAll(/^([A-Z_]+)=(?:"([^"\n]*)"|'([^'\n]*)'|(.*))$/gm)].map(([, field, ...values]) => [
      field,
      values.find((value) => value !== undefined)?.trim(),
    ]),
  );

/**
 * The package manager of a system; undefined when it is none that is known. `osRelease`: the text of its os-release.
 * @param {{ platform: string, osRelease?: string | undefined }} system
 * @returns {PackageManager | undefined}
 */
export const packageManagerOf = ({ platform, osRelease = "" }) => {
  if (platform === "darwin") return "brew";
  const { ID = "", ID_LIKE = "" } = readOsRelease(osRelease);
  return [ID, ...ID_LIKE.split(/\s+/)].map((id) => managerOf[id.replace(/-.*$/, "")]).find(Boolean);
};

/** @param {PackageManager} manager @param {readonly string[]} programs */
export const packagesOf = (manager, programs) => [
  ...new Set(programs.map((program) => packages[program]?.[manager] ?? program).filter(Boolean)),
];

/**
 * The line that installs these programs, all at once; undefined on a system that is not known.
 * @param {{ platform: string, osRelease?: string | undefined }} system
 * @param {readonly string[]} programs
 */
export const installLine = (system, programs) => {
  const manager = packageManagerOf(system);
  return manager && `${commandOf[manager]} ${packagesOf(manager, programs).join(" ")}`;
};
