import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Settings } from "#shared/settings.ts";

/** Where the control plane keeps an operator token that it made itself. */
export function adminTokenFile(dataDirectory: string): string {
  return join(dataDirectory, "admin-token");
}

/** The operator token of the control plane started here; null while there is none. */
export function readAdminToken({ adminToken }: Pick<Settings, "adminToken">, dataDirectory: string): string | null {
  const file = adminTokenFile(dataDirectory);
  return adminToken ?? (existsSync(file) ? readFileSync(file, "utf8").trim() : null);
}
