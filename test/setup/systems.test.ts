import { expect, test } from "vitest";
import { installLine, packageManagerOf } from "../../scripts/setup/systems.mjs";

const osReleases = {
  "Debian 12": 'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nNAME="Debian GNU/Linux"\nVERSION_ID="12"\nID=debian\n',
  "Debian 13": 'PRETTY_NAME="Debian GNU/Linux 13 (trixie)"\nVERSION_ID="13"\nID=debian\n',
  "Ubuntu 24.04": 'PRETTY_NAME="Ubuntu 24.04.3 LTS"\nNAME="Ubuntu"\nID=ubuntu\nID_LIKE=debian\nVERSION_ID="24.04"\n',
  "Linux Mint": 'NAME="Linux Mint"\nID=linuxmint\nID_LIKE="ubuntu debian"\n',
  "Raspberry Pi OS": 'ID="raspbian"\nID_LIKE="debian"\n',
  Fedora: "NAME='Fedora Linux'\nID=fedora\nVERSION_ID=43\n",
  "Rocky Linux": 'NAME="Rocky Linux"\nID="rocky"\nID_LIKE="rhel centos fedora"\n',
  "openSUSE Tumbleweed": 'NAME="openSUSE Tumbleweed"\nID="opensuse-tumbleweed"\nID_LIKE="opensuse suse"\n',
  "openSUSE Leap": 'ID="opensuse-leap"\n',
  "Arch Linux": 'NAME="Arch Linux"\nID=arch\n',
  Manjaro: "ID=manjaro\nID_LIKE=arch\n",
  NixOS: "ID=nixos\n",
  "Alpine Linux": "ID=alpine\n",
  nothing: "",
};

test.each([
  ["Debian 12", "apt"],
  ["Debian 13", "apt"],
  ["Ubuntu 24.04", "apt"],
  ["Linux Mint", "apt"],
  ["Raspberry Pi OS", "apt"],
  ["Fedora", "dnf"],
  ["Rocky Linux", "dnf"],
  ["openSUSE Tumbleweed", "zypper"],
  ["openSUSE Leap", "zypper"],
  ["Arch Linux", "pacman"],
  ["Manjaro", "pacman"],
  ["NixOS", undefined],
  ["Alpine Linux", undefined],
  ["nothing", undefined],
] as const)("%s has %s", (name, manager) => {
  expect(packageManagerOf({ platform: "linux", osRelease: osReleases[name] })).toBe(manager);
});

test("macOS has brew", () => expect(packageManagerOf({ platform: "darwin" })).toBe("brew"));

const missing = ["redis-server", "chromium", "chromium-headless-shell", "Xvfb", "ip", "bwrap", "chromedriver"];

test.each([
  [
    "Debian 12",
    "sudo apt-get update && sudo apt-get install -y --no-install-recommends redis-server chromium chromium-headless-shell xvfb iproute2 bubblewrap chromium-driver",
  ],
  [
    "Fedora",
    "sudo dnf install -y valkey-compat-redis chromium chromium-headless xorg-x11-server-Xvfb iproute bubblewrap chromedriver",
  ],
  ["openSUSE Leap", "sudo zypper install -y redis chromium xorg-x11-server-Xvfb iproute2 bubblewrap chromedriver"],
  ["Arch Linux", "sudo pacman -S --needed valkey chromium xorg-server-xvfb iproute2 bubblewrap"],
  ["NixOS", undefined],
] as const)("on %s one line installs all", (name, line) => {
  expect(installLine({ platform: "linux", osRelease: osReleases[name] }, missing)).toBe(line);
});

test("a package of several programs is named once, and what a system lacks is left out", () => {
  expect(installLine({ platform: "darwin" }, ["redis-server", "redis-server", "Xvfb"])).toBe("brew install redis");
});
