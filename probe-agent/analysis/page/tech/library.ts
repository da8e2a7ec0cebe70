import { appendTo } from "#probe-agent/analysis/text/multi-map.ts";
import type { Asset } from "#probe-agent/analysis/page/tech/asset.ts";

/** Test that recognises the files of a library. All names are in lower case. */
export interface LibraryTest {
  readonly kind: Asset["kind"];
  /** File name. null accepts any file of the library's packages in a public CDN, or of its WordPress plugin. */
  readonly file: string | null;
  /** Names of the library's folder or package. */
  readonly packages: ReadonlySet<string>;
  /** Whether the file name is too common and counts only in a folder or package of the library. */
  readonly together: boolean;
}

/** Index of a page's scripts and style sheets by the names of their files and packages. */
export class Assets {
  readonly #byName = new Map<string, Asset[]>();
  readonly #byHosted = new Map<string, Asset[]>();

  constructor(assets: Iterable<Asset>) {
    for (const asset of assets) {
      if (asset.name !== "") appendTo(this.#byName, asset.name, asset);
      if (asset.hosted !== null) appendTo(this.#byHosted, asset.hosted, asset);
    }
  }

  /** Yields the matching assets, each with the version in its file name or folder. */
  *find({ kind, file, packages, together }: LibraryTest): Generator<readonly [Asset, string | null]> {
    const lists = file === null ? [...packages].map((name) => this.#byHosted.get(name)) : [this.#byName.get(file)];
    for (const asset of lists.flatMap((list) => list ?? [])) {
      if (asset.kind !== kind) continue;
      const known = [...packages].filter((name) => asset.packages.has(name));
      // If any file name is accepted, the number in the file name can be another version. The package's version counts.
      const named = file === null ? null : asset.version;
      const version = named ?? known.map((name) => asset.packages.get(name) ?? null).find(Boolean) ?? null;
      if (!together || known.length > 0) yield [asset, version];
    }
  }
}
