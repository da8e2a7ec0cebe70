import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** The parts of npm's CycloneDX document that are read here. */
interface Sbom {
  readonly components: readonly { readonly "bom-ref": string }[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

/**
 * Returns the bill of materials of a package as CycloneDX JSON (https://cyclonedx.org/docs/1.5/json/), as npm writes it of
 * the lockfile, with the packages in `folders` alone. npm's serial number and time differ each time: here they follow from
 * the content and from `time`, Unix seconds.
 */
export function describeMaterials(
  root: string,
  folders: readonly string[],
  named: { readonly name: string; readonly version: string; readonly license: string; readonly time: number },
): string {
  const written = execFileSync("npm", ["sbom", "--sbom-format=cyclonedx", "--package-lock-only"], {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 64e6,
  });
  const { components, dependencies, ...head } = JSON.parse(written) as Sbom;
  const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as {
    packages: Readonly<Record<string, { readonly version?: string }>>;
  };
  const included = new Set(
    folders.map((folder) => `${folder.slice(folder.lastIndexOf("node_modules/") + 13)}@${packages[folder]?.version}`),
  );
  const { name, version, license, time } = named;
  const own = `${name}@${version}`;
  const content = {
    metadata: {
      timestamp: new Date(time * 1_000).toISOString(),
      component: { "bom-ref": own, type: "application", name, version, licenses: [{ license: { id: license } }] },
    },
    components: components.filter((component) => included.has(component["bom-ref"])),
    dependencies: [
      { ref: own, dependsOn: [...included].toSorted() },
      ...dependencies
        .filter(({ ref }) => included.has(ref))
        .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((needed) => included.has(needed)) })),
    ],
  };
  const digest = createHash("sha256").update(JSON.stringify(content)).digest("hex");
  // A UUID of version 8 (RFC 9562): of own making.
  const uuid = `${digest.slice(0, 8)}-${digest.slice(8, 12)}-8${digest.slice(13, 16)}-8${digest.slice(17, 20)}-${digest.slice(20, 32)}`;
  return `${JSON.stringify({ ...head, serialNumber: `urn:uuid:${uuid}`, ...content }, null, 1)}\n`;
}
