import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { AGENT_FILES } from "#control-plane/surfaces/install/bundle.ts";
import { LAUNCHER_NAME, toPackagedUnit, UNITS, type Kind, type Release } from "./tree.ts";

/** Names of architectures in Debian by those of Node.js. */
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: "amd64", arm64: "arm64" };
const SUMMARIES: Readonly<Record<Kind, string>> = {
  vantage: "website diagnostics and monitoring: control plane, probe agent and command",
  "vantage-agent": "probe agent of Vantage, exporter and command",
};
/** Users that are made at installation, by their units. The exporter keeps nothing: its user is made when it starts. */
const USERS: Readonly<Record<string, string>> = {
  "vantage-control-plane": "vantage",
  "vantage-agent": "vantage-agent",
};

/** Returns the architecture of this machine as Debian calls it. */
export function debianArchitecture(): string {
  const name = ARCHITECTURES[process.arch];
  if (name === undefined) throw new Error(`there is no package for ${process.arch}`);
  return name;
}

/** Makes the tree of a Debian package around that of an archive, which is moved. `folder` is empty. */
export function writeDebianTree({ root, version }: Release, kind: Kind, tree: string, folder: string): void {
  const place = (path: string, content: string, mode = 0o644): void => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content, { mode });
  };
  const home = `usr/lib/${kind}`;
  // In texts for people: the command is on the PATH. The agent's archive keeps the file.
  const named = "shared/settings/launcher.js";
  const launcher = readFileSync(join(tree, named), "utf8");
  writeFileSync(join(tree, named), launcher.replace(LAUNCHER_NAME, "vantage"));
  rmSync(join(tree, "Containerfile"));
  if (kind === "vantage-agent") rmSync(join(tree, "deploy"), { recursive: true });
  else {
    mkdirSync(dirname(join(tree, AGENT_FILES, named)), { recursive: true });
    writeFileSync(join(tree, AGENT_FILES, named), launcher);
  }
  mkdirSync(join(folder, "usr/lib"), { recursive: true });
  mkdirSync(join(folder, "usr/bin"), { recursive: true });
  renameSync(tree, join(folder, home));
  symlinkSync(`../lib/${kind}/bin/vantage`, join(folder, "usr/bin/vantage"));
  place(`usr/share/doc/${kind}/copyright`, readFileSync(join(root, "LICENSE"), "utf8"));
  const settings: string[] = [];
  for (const name of UNITS[kind]) {
    const unit = readFileSync(join(root, `deploy/systemd/${name}.service`), "utf8");
    // The user is there before the unit, so that it can own files of the operator.
    const fixed = Object.hasOwn(USERS, name) ? unit.replace("DynamicUser=yes\n", "") : unit;
    const packaged = toPackagedUnit(withoutHead(fixed), `/${home}`).replaceAll(`\`${LAUNCHER_NAME}`, "`vantage");
    place(`usr/lib/systemd/system/${name}.service`, packaged);
    const path = /^EnvironmentFile=-?\/(.+)$/m.exec(unit)?.[1];
    if (path === undefined) throw new Error(`${name} has no file of settings`);
    place(path, settingsOf(name, unit), 0o600);
    settings.push(`/${path}`);
  }
  place("DEBIAN/conffiles", settings.map((path) => `${path}\n`).join(""));
  place("DEBIAN/control", controlOf(kind, version));
  const units = UNITS[kind];
  const users = units.flatMap((name) => USERS[name] ?? []);
  place("DEBIAN/postinst", afterInstallation(units, users), 0o755);
  place("DEBIAN/prerm", beforeRemoval(units), 0o755);
  place("DEBIAN/postrm", afterRemoval(units, users), 0o755);
}

/** Removes the comment that says how to install a unit by hand. */
function withoutHead(unit: string): string {
  return unit.slice(unit.indexOf("[Unit]"));
}

/** Returns the file of settings of a unit: those that the unit's comment names, each as a comment. */
function settingsOf(name: string, unit: string): string {
  const examples = Array.from(unit.matchAll(/^# {5}([A-Z_]+=.*)$/gm), ([, line = ""]) => `# ${line}\n`);
  return [
    `# Settings of ${name}.service. List all: vantage doctor --settings\n`,
    `# Then: systemctl enable --now ${name}\n`,
    ...examples,
  ].join("");
}

function controlOf(kind: Kind, version: string): string {
  const other = kind === "vantage" ? "vantage-agent" : "vantage";
  return `Package: ${kind}
Version: ${version}
Architecture: ${debianArchitecture()}
Maintainer: Vantage <packages@vantage.example>
Section: net
Priority: optional
Depends: libc6 (>= 2.36), libstdc++6, passwd
Conflicts: ${other}
Replaces: ${other}
Homepage: https://vantage.example
Description: ${SUMMARIES[kind]}
 It has its own Node.js. Settings are in /etc/vantage, data in /var/lib.
`;
}

function afterInstallation(units: readonly string[], users: readonly string[]): string {
  return `#!/bin/sh
set -e
[ "$1" = configure ] || exit 0
for user in ${users.join(" ")}; do
  getent passwd "$user" >/dev/null ||
    useradd --system --user-group --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin "$user"
done
if [ -d /run/systemd/system ]; then
  systemctl daemon-reload
  # After an upgrade, what runs is restarted on the new version.
  [ -z "$2" ] || systemctl try-restart ${units.map((name) => `${name}.service`).join(" ")}
fi
`;
}

function beforeRemoval(units: readonly string[]): string {
  return `#!/bin/sh
set -e
if [ "$1" = remove ] && [ -d /run/systemd/system ]; then
  systemctl disable --now ${units.map((name) => `${name}.service`).join(" ")}
fi
`;
}

function afterRemoval(units: readonly string[], users: readonly string[]): string {
  const data = units.flatMap((name) => [`/var/lib/${name}`, `/var/lib/private/${name}`]);
  return `#!/bin/sh
set -e
[ ! -d /run/systemd/system ] || systemctl daemon-reload
if [ "$1" = purge ]; then
  rm -rf ${data.join(" ")}
  rmdir --ignore-fail-on-non-empty /etc/vantage 2>/dev/null || true
  for user in ${users.join(" ")}; do
    ! getent passwd "$user" >/dev/null || userdel "$user"
  done
fi
`;
}
