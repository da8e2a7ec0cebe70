import type { Asset } from "#probe-agent/analysis/page/cms-assets.ts";

/** A theme or plugin found in the page's addresses. */
export interface SystemPart {
  readonly name: string;
  readonly version: string | null;
}

/** Theme and plugins of a system. */
interface SystemParts {
  readonly theme: SystemPart | null;
  readonly plugins: readonly SystemPart[];
}

interface Layout {
  /** The first group is the name. */
  readonly themes: readonly RegExp[];
  readonly plugins: readonly RegExp[];
}

function layout(themes: readonly RegExp[], plugins: readonly RegExp[]): Layout {
  return { themes, plugins };
}

/** Paths of each system's themes and plugins, according to its documentation. */
const LAYOUTS = new Map<string, Layout>([
  [
    "wordpress",
    layout([/\/wp-content\/themes\/([\w.-]{1,80})\//], [/\/wp-content\/(?:mu-)?plugins\/([\w.-]{1,80})\//]),
  ],
  [
    "drupal",
    layout(
      [/(?<!\/core)\/themes\/(?:contrib\/|custom\/)?([\w.-]{1,80})\//],
      [/(?<!\/core)\/modules\/(?:contrib\/|custom\/)?(?!contrib\/|custom\/)([\w.-]{1,80})\//],
    ),
  ],
  [
    "joomla",
    layout(
      [/^(?!.*\/media\/).*\/templates\/([\w.-]{1,80})\//, /\/media\/templates\/site\/([\w.-]{1,80})\//],
      [/\/(?:components|modules|media)\/((?:com|mod|plg)_[\w-]{1,80})\//, /\/plugins\/[\w-]{1,40}\/([\w.-]{1,80})\//],
    ),
  ],
  ["typo3", layout([], [/\/typo3conf\/ext\/([\w.-]{1,80})\//])],
  [
    "magento",
    layout(
      [/\/frontend\/([\w-]{1,60}\/[\w-]{1,60})\/[a-z]{2}_[A-Z]{2}\//],
      [/\/frontend\/[\w-]{1,60}\/[\w-]{1,60}\/[a-z]{2}_[A-Z]{2}\/([A-Z][A-Za-z0-9]{1,60}_[A-Z][A-Za-z0-9]{1,60})\//],
    ),
  ],
  ["prestashop", layout([/\/themes\/([\w.-]{1,80})\//], [/\/modules\/([\w.-]{1,80})\//])],
  ["opencart", layout([/\/catalog\/view\/theme\/([\w.-]{1,80})\//], [])],
  ["mediawiki", layout([/\/skins\/([\w.-]{1,80})\//], [/\/extensions\/([\w.-]{1,80})\//])],
  ["moodle", layout([/\/theme\/([\w.-]{1,80})\//], [])],
  ["phpbb", layout([/\/styles\/([\w.-]{1,80})\/theme\//], [/\/ext\/([\w-]{1,60}\/[\w-]{1,60})\//])],
  ["concrete-cms", layout([/\/application\/themes\/([\w.-]{1,80})\//], [/\/packages\/([\w.-]{1,80})\//])],
  ["grav", layout([/\/user\/themes\/([\w.-]{1,80})\//], [/\/user\/plugins\/([\w.-]{1,80})\//])],
  ["october-cms", layout([/\/themes\/([\w.-]{1,80})\//], [/\/plugins\/([\w-]{1,60}\/[\w-]{1,60})\//])],
  ["modx", layout([], [/\/assets\/components\/([\w.-]{1,80})\//])],
  ["dnn", layout([/\/Portals\/[\w-]{1,40}\/Skins\/([\w.-]{1,80})\//], [/\/DesktopModules\/([\w.-]{1,80})\//])],
  ["1c-bitrix", layout([/\/bitrix\/templates\/([\w.-]{1,80})\//], [])],
  ["bludit", layout([/\/bl-themes\/([\w.-]{1,80})\//], [/\/bl-plugins\/([\w.-]{1,80})\//])],
  ["silverstripe", layout([/\/_resources\/themes\/([\w.-]{1,80})\//], [])],
]);
const MAX_PLUGINS = 100;

/** Finds the theme and plugins of a page's files. Ignores versions equal to the system's own version. */
export function findParts(slug: string, assets: readonly Asset[], systemVersion: string | null): SystemParts {
  const known = LAYOUTS.get(slug);
  if (known === undefined) return { theme: null, plugins: [] };
  const themes = countParts(known.themes, assets, systemVersion);
  const plugins = countParts(known.plugins, assets, systemVersion);
  return {
    // A child theme is loaded together with its parent. The one with the most files is reported.
    theme: themes.toSorted((one, other) => other.files - one.files).map(({ part }) => part)[0] ?? null,
    plugins: plugins
      .map(({ part }) => part)
      .toSorted((one, other) => (one.name < other.name ? -1 : 1))
      .slice(0, MAX_PLUGINS),
  };
}

function countParts(
  patterns: readonly RegExp[],
  assets: readonly Asset[],
  systemVersion: string | null,
): { part: SystemPart; files: number }[] {
  const found = new Map<string, { files: number; versions: Set<string> }>();
  for (const { path, version } of assets) {
    const name = patterns.map((pattern) => pattern.exec(path)?.[1]).find((one) => one !== undefined);
    if (name === undefined) continue;
    const entry = found.get(name) ?? { files: 0, versions: new Set<string>() };
    entry.files += 1;
    if (version !== null && version !== systemVersion) entry.versions.add(version);
    found.set(name, entry);
  }
  return [...found].map(([name, { files, versions }]) => ({
    part: { name, version: versions.size === 1 ? ([...versions][0] ?? null) : null },
    files,
  }));
}

/** Finds the theme of a Shopify shop in the object `Shopify.theme` of its pages. Returns null if there is none. */
export function shopifyTheme(html: string): SystemPart | null {
  const start = html.indexOf("Shopify.theme = {");
  if (start === -1) return null;
  const head = html.slice(start, start + 600);
  const name = /"(?:schema_name)":"([^"\\]{1,80})"/.exec(head) ?? /"name":"([^"\\]{1,80})"/.exec(head);
  const version = /"schema_version":"(\d[\w.]{0,20})"/.exec(head);
  return name?.[1] === undefined ? null : { name: name[1], version: version?.[1] ?? null };
}
