import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Settings } from "#shared/settings/settings.ts";

/** Returns the path of the operator token that the control plane generates. */
export function adminTokenFile(dataDirectory: string): string {
  return join(dataDirectory, "admin-token");
}

/** Reads the operator token of the control plane started here; null if none exists yet. */
export function readAdminToken({ adminToken }: Pick<Settings, "adminToken">, dataDirectory: string): string | null {
  const file = adminTokenFile(dataDirectory);
  return adminToken ?? (existsSync(file) ? readFileSync(file, "utf8").trim() : null);
}
