import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Registrations that a test makes and changes, by domain in lower case. */
export type Registrations = Readonly<
  Record<string, { /** ISO 8601 UTC. */ readonly expires: string; readonly status: readonly string[] }>
>;

const NAME = "registrations.json";

/** Makes these registrations those of the lab's RDAP service, besides its own. */
export function register(folder: string, registrations: Registrations): void {
  writeFileSync(join(folder, NAME), JSON.stringify(registrations));
}

/** Reads them in the program of the service. */
export function readRegistrations(folder: string): Registrations {
  const file = join(folder, NAME);
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Registrations) : {};
}
