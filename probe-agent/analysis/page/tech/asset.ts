/** A script or style sheet of a page, read from its address. */
export interface Asset {
  readonly kind: "script" | "style";
  readonly address: string;
  /** The file's name in lower case, without version, build words, hash and extension: jquery for jquery-3.7.1.min.js. */
  readonly name: string;
  /** The version in the file's name; null for none. */
  readonly version: string | null;
  /** Folders that name a package, in lower case, with the version they or the folder below them show. */
  readonly packages: ReadonlyMap<string, string | null>;
  /** The package of a public store, or the WordPress plugin (plugins/NAME), that the file is part of; null for none. */
  readonly hosted: string | null;
}

const MAX_ADDRESS = 2048;
const MAX_PARTS = 40;
const MAX_FOLDERS = 24;
/** What builds append to a file's name. */
const BUILD_WORDS = new Set(
  "min prod production dev development debug umd esm es5 iife bundle pack full slim custom all global cjs module core rtl theme build latest free pkgd runtime compat".split(
    " ",
  ),
);
/** A content hash after the name: hexadecimal with a digit, or long. */
const HASH = /^(?=[a-f]{0,64}\d|[a-f]{8})[0-9a-f]{5,64}$/;
/** A major version has one or two digits: 2016 is a year. */
const VERSION = /^v?(\d{1,2}(?:\.\d{1,4}){0,3})(?:\.[x*]){0,2}(?:-[\w.]{1,20})?$/;
const NAME_VERSION = /^([^]{1,80}?)[.-]v?(\d{1,2}(?:\.\d{1,4}){1,3})$/;
const FOLDER_VERSION = /^([^]{1,80}?)-v?(\d{1,2}(?:\.\d{1,4}){1,3})(?:-[\w.]{1,20})?$/;
/** A time stamp that a minifier puts first. */
const STAMP = /^\d[\d-]{4,24}-(?=[a-z])/;
const FILE = /^([^]{1,120})\.(?:js|mjs|css)$/;
/** WordPress adds `?ver=` to its own copies of libraries, with -wp where it changed them; a theme's number is the theme's. */
const WORDPRESS_COPY =
  /\/wp-includes\/js\/[^?#]{1,200}\?(?:[^#&]{0,60}&){0,3}ver=(\d+(?:\.\d+){1,3})(?:-wp)?(?:$|[&#])/i;
/** The folder of a WordPress plugin, the rest of the path, and the number after it. */
const PLUGIN =
  /\/wp-content\/plugins\/([\w.-]{1,80})\/([\w./-]{1,200})(?:\?(?:[^#&]{0,60}&){0,3}ver=(\d{1,2}(?:\.\d{1,4}){1,3})(?:$|[&#]))?/i;
/** Folders of a plugin's own files. What lies in others, lib or vendor for one, is somebody else's with a number of its own. */
const OWN_FOLDERS = new Set(
  "assets public css js dist build includes _inc frontend front admin client blocks legacy templates default styles scripts static min".split(
    " ",
  ),
);
const STORES = /^(?:https?:)?\/\/(?:[\w-]{1,20}\.)?(?:unpkg\.com|esm\.sh|skypack\.dev)\/|\/(?:npm|ajax\/libs)\//i;

/** Reads an address; more than one asset where a server joins files: `combo?js/jquery.min.js&js/app.js`. */
export function readAssets(kind: Asset["kind"], address: string): Asset[] {
  const short = address.slice(0, MAX_ADDRESS);
  const copied = WORDPRESS_COPY.exec(short)?.[1] ?? null;
  const store = STORES.exec(short);
  const plugin = readPlugin(short);
  return short
    .split(/[?#&=,]/, MAX_PARTS)
    .map((part, at) => ({ path: part.toLowerCase(), first: at === 0 }))
    .filter(({ path, first }) => first || FILE.test(path))
    .map(({ path, first }) => {
      const folders = path.split("/").slice(-MAX_FOLDERS);
      const { name, version } = readFile(folders.at(-1) ?? "");
      return {
        kind,
        address: short,
        name,
        version: version ?? (first ? copied : null),
        packages: new Map([...readPackages(folders), ...(first && plugin !== null ? [plugin] : [])]),
        hosted: !first
          ? null
          : (plugin?.[0] ?? (store === null ? null : hostedPackage(short.slice(store.index + store[0].length)))),
      };
    });
}

function readFile(file: string): Pick<Asset, "name" | "version"> {
  const stem = FILE.exec(file)?.[1];
  if (stem === undefined) return { name: "", version: null };
  let name = stem.replace(STAMP, "");
  for (;;) {
    const at = Math.max(name.lastIndexOf("."), name.lastIndexOf("-"));
    const last = name.slice(at + 1);
    if (at <= 0 || !(BUILD_WORDS.has(last) || HASH.test(last))) break;
    name = name.slice(0, at);
  }
  const versioned = NAME_VERSION.exec(name);
  return versioned === null ? { name, version: null } : { name: versioned[1] ?? "", version: versioned[2] ?? null };
}

function readPackages(folders: readonly string[]): Map<string, string | null> {
  const packages = new Map<string, string | null>();
  for (const [at, folder] of folders.entries()) {
    const scope = folders[at - 1]?.startsWith("@") === true ? `${folders[at - 1] ?? ""}/` : "";
    const sign = folder.lastIndexOf("@");
    const dashed = FOLDER_VERSION.exec(folder);
    if (sign > 0) packages.set(scope + folder.slice(0, sign), versionOf(folder.slice(sign + 1)));
    else if (dashed !== null) packages.set(scope + (dashed[1] ?? ""), dashed[2] ?? null);
    else if (at < folders.length - 1) packages.set(scope + folder, versionOf(folders[at + 1] ?? ""));
  }
  return packages;
}

function versionOf(text: string): string | null {
  return VERSION.exec(text.replace(/^[~^]/, ""))?.[1] ?? null;
}

/** A plugin as a package named plugins/NAME, with its version where a file of its own carries it. */
function readPlugin(address: string): [string, string | null] | null {
  const [, name, path = "", version] = PLUGIN.exec(address) ?? [];
  if (name === undefined) return null;
  const [file = "", ...folders] = path.toLowerCase().split("/").toReversed();
  const own = folders.every((folder) => OWN_FOLDERS.has(folder)) && !file.startsWith("jquery");
  return [`plugins/${name.toLowerCase()}`, own ? (version ?? null) : null];
}

/** The first folder, or two of a scoped package, without its version. */
function hostedPackage(rest: string): string | null {
  const [first = "", second = ""] = rest.toLowerCase().split(/[/?#,]/, 2);
  const name = first.startsWith("@") ? `${first}/${second}` : first;
  const sign = name.indexOf("@", 1);
  return (sign === -1 ? name : name.slice(0, sign)) || null;
}
