import type { Asset } from "#probe-agent/analysis/page/cms-assets.ts";

/** Facts from a well-known file. */
interface FileFacts {
  readonly version: string | null;
  /** Text that identifies the system. */
  readonly match: string;
  /** Keys of the plugins that the file lists. */
  readonly plugins?: readonly string[];
}

/** A file that every site of a system has unless it was removed. It is public and not a login page. */
interface KnownFile {
  /** Path relative to the system's folder. */
  readonly path: string;
  /** Parses the file's text. Returns null if it is not the expected file. */
  read(text: string): FileFacts | null;
}

/** REST namespaces of WordPress itself, which belong to no plugin. */
const OWN_NAMESPACES = new Set(["wp", "oembed", "wp-site-health", "wp-block-editor", "wp-abilities"]);
const MAX_PLUGINS = 50;

function byPattern(path: string, pattern: RegExp): KnownFile {
  return {
    path,
    read(text) {
      const match = pattern.exec(text);
      return match === null ? null : { version: match[1] ?? null, match: match[0] };
    },
  };
}

/** Returns a file in which the version follows within `within` characters after the first `mark`. */
function byMark(path: string, mark: string, within: number, pattern: RegExp): KnownFile {
  return {
    path,
    read(text) {
      const start = text.indexOf(mark);
      const match = start === -1 ? null : pattern.exec(text.slice(start + mark.length, start + mark.length + within));
      return match === null ? null : { version: match[1] ?? null, match: mark + match[0] };
    },
  };
}

function byJson(path: string, read: (value: unknown) => FileFacts | null): KnownFile {
  return {
    path,
    read(text) {
      try {
        return read(JSON.parse(text) as unknown);
      } catch {
        return null;
      }
    },
  };
}

function field(value: unknown, ...keys: readonly string[]): unknown {
  return keys.reduce<unknown>(
    (at, key) => (typeof at === "object" && at !== null && Object.hasOwn(at, key) ? (at as never)[key] : undefined),
    value,
  );
}

function versionIn(value: unknown): FileFacts | null {
  const version = typeof value === "string" ? /\d{1,4}(?:\.\d{1,5}){1,3}/.exec(value)?.[0] : undefined;
  return version === undefined ? null : { version, match: String(value).slice(0, 60) };
}

function readRestIndex(value: unknown): FileFacts | null {
  const namespaces = field(value, "namespaces");
  if (!Array.isArray(namespaces)) return null;
  const names = namespaces.filter((one) => typeof one === "string");
  if (!names.includes("wp/v2")) return null;
  const keys = names.map((name) => name.split("/", 1)[0] ?? "").filter((key) => /^[\w-]{2,60}$/.test(key));
  const plugins = [...new Set(keys)].filter((key) => !OWN_NAMESPACES.has(key)).slice(0, MAX_PLUGINS);
  return { version: null, match: "namespace wp/v2", plugins };
}

const VERSION_ELEMENT = /<version>(\d{1,2}\.\d{1,3}(?:\.\d{1,3})?)/;

/** Up to three files for each CMS, keyed by its slug. */
const FILES = new Map<string, readonly KnownFile[]>([
  [
    "wordpress",
    [
      byJson("wp-json/", readRestIndex),
      byPattern("feed/", /<generator>https?:\/\/wordpress\.org\/\?v=(\d[\d.]{0,12})/),
    ],
  ],
  [
    "drupal",
    [
      byPattern("CHANGELOG.txt", /^Drupal (\d{1,2}\.\d{1,3}(?:\.\d{1,3})?), \d{4}-\d\d-\d\d/m),
      byPattern("core/CHANGELOG.txt", /\bDrupal core\b|\bDrupal are released\b/),
    ],
  ],
  [
    "joomla",
    [
      byMark("administrator/manifests/files/joomla.xml", "<name>files_joomla</name>", 1500, VERSION_ELEMENT),
      byMark("language/en-GB/langmetadata.xml", "<metafile ", 1000, VERSION_ELEMENT),
    ],
  ],
  [
    "ghost",
    [
      byJson("ghost/api/admin/site/", (value) => versionIn(field(value, "site", "version"))),
      byPattern("rss/", /<generator>Ghost (\d{1,2}\.\d{1,3})/),
    ],
  ],
  ["magento", [byPattern("magento_version", /^Magento\/(\d{1,2}\.\d{1,2})/)]],
  [
    "mediawiki",
    ["api.php", "w/api.php"].map((path) =>
      byJson(`${path}?action=query&meta=siteinfo&format=json`, (value) =>
        versionIn(field(value, "query", "general", "generator")),
      ),
    ),
  ],
  ["discourse", [byJson("about.json", (value) => versionIn(field(value, "about", "version")))]],
  ["moodle", [byMark("lib/upgrade.txt", "core libraries and APIs", 2000, /^={3} (\d{1,2}\.\d{1,2}(?:\.\d{1,2})?)/m)]],
  ["phpbb", [byPattern("styles/prosilver/style.cfg", /^phpbb_version = (\d\.\d{1,2}\.\d{1,3})/m)]],
  [
    "shopify",
    [
      byJson("meta.json", (value) => {
        const domain = field(value, "myshopify_domain");
        return typeof domain === "string" ? { version: null, match: domain.slice(0, 80) } : null;
      }),
    ],
  ],
]);

/** Expressions that match the paths just below a system's folder. The first group is the folder. */
const MARKERS = new Map([
  ["wordpress", /^(.{0,200}?\/)wp-(?:content|includes)\//],
  ["drupal", /^(.{0,200}?\/)(?:core\/(?:misc|assets|themes)|sites\/(?:default|all))\//],
  ["joomla", /^(.{0,200}?\/)(?:media\/(?:system|vendor|templates)|templates|components\/com_\w{1,40})\//],
  ["moodle", /^(.{0,200}?\/)(?:theme|lib)\/[\w-]{1,40}\.php/],
]);

/** Returns the files that identify a system and its version. Empty for unknown systems. */
export function knownFiles(slug: string): readonly KnownFile[] {
  return FILES.get(slug) ?? [];
}

/** Finds the system's folder by the addresses of its files. Returns "/" if none of them shows it. */
export function systemFolder(slug: string, assets: readonly Asset[], host: string): string {
  const marker = MARKERS.get(slug);
  const own = assets.filter((asset) => asset.host === host);
  return (marker && own.map(({ path }) => marker.exec(path)?.[1]).find((folder) => folder !== undefined)) ?? "/";
}
