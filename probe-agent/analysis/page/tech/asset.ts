/** A script or style sheet of a page, described by its address. */
export interface Asset {
  readonly kind: "script" | "style";
  readonly address: string;
  /** File name in lower case without version, build words, hash and extension: jquery for jquery-3.7.1.min.js. */
  readonly name: string;
  /** Version in the file name. null if there is none. */
  readonly version: string | null;
  /** Folders that name a package, in lower case, with the version in their name or in the name of the folder below. */
  readonly packages: ReadonlyMap<string, string | null>;
  /** Package of a public CDN, or WordPress plugin (plugins/NAME), that the file belongs to. null if there is none. */
  readonly hosted: string | null;
}

const MAX_ADDRESS = 2048;
const MAX_PARTS = 40;
const MAX_FOLDERS = 24;
/** Words that build tools append to a file name. */
const BUILD_WORDS = new Set(
  "min prod production dev development debug umd esm es5 iife bundle pack full slim custom all global cjs module core rtl theme build latest free pkgd runtime compat".split(
    " ",
  ),
);
/** Content hash after the name: hexadecimal, with a digit or at least 8 characters long. */
const HASH = /^(?=[a-f]{0,64}\d|[a-f]{8})[0-9a-f]{5,64}$/;
/** Version with a major number of one or two digits, because a number such as 2016 is a year. */
const VERSION = /^v?(\d{1,2}(?:\.\d{1,4}){0,3})(?:\.[x*]){0,2}(?:-[\w.]{1,20})?$/;
const NAME_VERSION = /^([^]{1,80}?)[.-]v?(\d{1,2}(?:\.\d{1,4}){1,3})$/;
const FOLDER_VERSION = /^([^]{1,80}?)-v?(\d{1,2}(?:\.\d{1,4}){1,3})(?:-[\w.]{1,20})?$/;
/** Timestamp that a minifier puts before the name. */
const STAMP = /^\d[\d-]{4,24}-(?=[a-z])/;
const FILE = /^([^]{1,120})\.(?:js|mjs|css)$/;
/** Library shipped with WordPress, and its query. In a theme's folder `ver` is the theme's version. */
const WORDPRESS_LIBRARY = /\/wp-includes\/js\/[^?#]{1,200}\?([^#]{1,200})/i;
/** Version in such a query. WordPress adds -wp if it changed the library. */
const WORDPRESS_VERSION = /(?:^|&)ver=(\d+(?:\.\d+){1,3})(?:-wp)?(?:$|&)/i;
/** Folder of a WordPress plugin, the rest of the path, and the version in `?ver=`. */
const PLUGIN =
  /\/wp-content\/plugins\/([\w.-]{1,80})\/([\w./-]{1,200})(?:\?(?:[^#&]{0,60}&){0,3}ver=(\d{1,2}(?:\.\d{1,4}){1,3})(?:$|[&#]))?/i;
/**
 * Folders of a plugin's own files. Files in other folders, such as lib or vendor, come from third parties and have
 * their own version.
 */
const OWN_FOLDERS = new Set(
  "assets public css js dist build includes _inc frontend front admin client blocks legacy templates default styles scripts static min".split(
    " ",
  ),
);
const STORES = /^(?:https?:)?\/\/(?:[\w-]{1,20}\.)?(?:unpkg\.com|esm\.sh|skypack\.dev)\/|\/(?:npm|ajax\/libs)\//i;

/** Parses an address. Returns several assets if the server joins files: `combo?js/jquery.min.js&js/app.js`. */
export function parseAssets(kind: Asset["kind"], address: string): Asset[] {
  const short = address.slice(0, MAX_ADDRESS);
  const copied = WORDPRESS_VERSION.exec(WORDPRESS_LIBRARY.exec(short)?.[1] ?? "")?.[1] ?? null;
  const store = STORES.exec(short);
  const plugin = parsePlugin(short);
  return short
    .split(/[?#&=,]/, MAX_PARTS)
    .map((part, at) => ({ path: part.toLowerCase(), first: at === 0 }))
    .filter(({ path, first }) => first || FILE.test(path))
    .map(({ path, first }) => {
      const folders = path.split("/").slice(-MAX_FOLDERS);
      const { name, version } = parseFileName(folders.at(-1) ?? "");
      return {
        kind,
        address: short,
        name,
        version: version ?? (first ? copied : null),
        packages: new Map([...findPackages(folders), ...(first && plugin !== null ? [plugin] : [])]),
        hosted: !first
          ? null
          : (plugin?.[0] ?? (store === null ? null : hostedPackage(short.slice(store.index + store[0].length)))),
      };
    });
}

function parseFileName(file: string): Pick<Asset, "name" | "version"> {
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

function findPackages(folders: readonly string[]): Map<string, string | null> {
  const packages = new Map<string, string | null>();
  for (const [at, folder] of folders.entries()) {
    const scope = folders[at - 1]?.startsWith("@") === true ? `${folders[at - 1] ?? ""}/` : "";
    const sign = folder.lastIndexOf("@");
    const dashed = FOLDER_VERSION.exec(folder);
    if (sign > 0) packages.set(scope + folder.slice(0, sign), parseVersion(folder.slice(sign + 1)));
    else if (dashed !== null) packages.set(scope + (dashed[1] ?? ""), dashed[2] ?? null);
    else if (at < folders.length - 1) packages.set(scope + folder, parseVersion(folders[at + 1] ?? ""));
  }
  return packages;
}

function parseVersion(text: string): string | null {
  return VERSION.exec(text.replace(/^[~^]/, ""))?.[1] ?? null;
}

/** Returns a plugin as a package named plugins/NAME, with the version if the file is the plugin's own. */
function parsePlugin(address: string): [string, string | null] | null {
  const [, name, path = "", version] = PLUGIN.exec(address) ?? [];
  if (name === undefined) return null;
  const [file = "", ...folders] = path.toLowerCase().split("/").toReversed();
  const own = folders.every((folder) => OWN_FOLDERS.has(folder)) && !file.startsWith("jquery");
  return [`plugins/${name.toLowerCase()}`, own ? (version ?? null) : null];
}

/** Returns the first folder, or the first two of a scoped package, without the version. */
function hostedPackage(rest: string): string | null {
  const [first = "", second = ""] = rest.toLowerCase().split(/[/?#,]/, 2);
  const name = first.startsWith("@") ? `${first}/${second}` : first;
  const sign = name.indexOf("@", 1);
  return (sign === -1 ? name : name.slice(0, sign)) || null;
}
