import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { isInClear } from "#shared/settings/address.ts";
import { quoted } from "#shared/text/quoted.ts";
import type { Config } from "#control-plane/core/config.ts";
import { findBundle, type AgentBundle } from "#control-plane/surfaces/install/bundle.ts";

const TEMPLATE = readFileSync(new URL("agent.sh", import.meta.url), "utf8");
const SCRIPT = "agent.sh";

/** What an agent needs to know to join. */
interface Joining {
  readonly token: string;
  readonly region: string;
  /** Address that it dials. */
  readonly controlPlane: string;
}

/** Installs agents of this process's version on other hosts. */
export interface Installer {
  readonly bundle: AgentBundle;
  /** The script that installs the archive, and its digest in hexadecimal. */
  readonly script: { readonly text: string; readonly sha256: string };
  /**
   * Returns the line that adds an agent to a host, for a root shell there. The token is in the environment, which other
   * users do not see. Where nothing protects the script on its way, the line verifies its digest.
   */
  lineFor(joining: Joining): string;
}

/**
 * Creates the installer of the package in `root`; null: this is a clone. `baseUrl`: address of the service, without a slash
 * at its end.
 */
export function findInstaller(
  root: string,
  { dataDir, baseUrl }: Pick<Config, "dataDir" | "baseUrl">,
): Installer | null {
  const bundle = findBundle(root, dataDir);
  return bundle === null ? null : createInstaller(bundle, baseUrl);
}

/** Creates an installer of an archive. */
export function createInstaller(bundle: AgentBundle, baseUrl: string): Installer {
  const values = {
    VERSION: bundle.version,
    FILE: bundle.file,
    SHA256: bundle.sha256,
    ARCHITECTURE: process.arch,
    BASE: baseUrl,
  };
  const text = Object.entries(values).reduce(
    (filled, [name, value]) => filled.replace(`'@${name}@'`, () => quoted(value)),
    TEMPLATE,
  );
  const sha256 = createHash("sha256").update(text).digest("hex");
  const url = quoted(`${baseUrl}/install/${SCRIPT}`);
  return {
    bundle,
    script: { text, sha256 },
    lineFor({ token, region, controlPlane }) {
      const environment = `VANTAGE_JOIN_TOKEN=${token} VANTAGE_REGION=${region} VANTAGE_CONTROL_PLANE=${quoted(controlPlane)}`;
      if (!isInClear(baseUrl)) return `curl -fsS ${url} | ${environment} sh`;
      const verified = `curl -fsSO ${url} && echo '${sha256}  ${SCRIPT}' | sha256sum -c`;
      return `(cd "$(mktemp -d)" && ${verified} && ${environment} sh ${SCRIPT})`;
    },
  };
}
