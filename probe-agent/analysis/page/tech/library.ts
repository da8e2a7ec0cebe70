import type { Asset } from "#probe-agent/analysis/page/tech/asset.ts";

/** How the files of a library are recognised; all names in lower case. */
export interface LibraryTest {
  readonly kind: Asset["kind"];
  /** The name of its file; null: any file of one of its packages in a public store, or of its WordPress plugin. */
  readonly file: string | null;
  /** Names of its folder or package. */
  readonly packages: ReadonlySet<string>;
  /** The name alone says little: only in a folder or package of the library. */
  readonly together: boolean;
}

/** The scripts and style sheets of a page by the names of their files and packages. */
export class Assets {
  readonly #byName = new Map<string, Asset[]>();
  readonly #byHosted = new Map<string, Asset[]>();

  constructor(assets: Iterable<Asset>) {
    for (const asset of assets) {
      if (asset.name !== "") add(this.#byName, asset.name, asset);
      if (asset.hosted !== null) add(this.#byHosted, asset.hosted, asset);
    }
  }

  /** The assets that fit, each with the version that its name or folder shows. */
  *find({ kind, file, packages, together }: LibraryTest): Generator<readonly [Asset, string | null]> {
    const lists = file === null ? [...packages].map((name) => this.#byHosted.get(name)) : [this.#byName.get(file)];
    for (const asset of lists.flatMap((list) => list ?? [])) {
      if (asset.kind !== kind) continue;
      const known = [...packages].filter((name) => asset.packages.has(name));
      // A file of any name may have a number of its own; that of the package counts.
      const named = file === null ? null : asset.version;
      const version = named ?? known.map((name) => asset.packages.get(name) ?? null).find(Boolean) ?? null;
      if (!together || known.length > 0) yield [asset, version];
    }
  }
}

function add(index: Map<string, Asset[]>, key: string, asset: Asset): void {
  const list = index.get(key);
  if (list === undefined) index.set(key, [asset]);
  else list.push(asset);
}
