import { callService, field } from "#shared/client/call.ts";

/** The first key has the highest plan: the operator may use every function. */
const FIRST_KEY = { plan: "captain", name: "first key" };

/**
 * Creates the first API key if none exists. null: there are keys already, or the service did not list them.
 * `base`: the control plane's own listener.
 */
export async function makeFirstKey(base: string, token: string): Promise<string | null> {
  const keys = await callService(`${base}/api/admin/keys`, { token, own: true });
  if (keys.status !== 200 || countRows(field(keys.body, "data")) !== 0) return null;
  const made = await callService(`${base}/api/admin/keys`, { method: "POST", token, json: FIRST_KEY, own: true });
  const key = field(field(made.body, "data"), "key");
  return made.status === 201 && typeof key === "string" ? key : null;
}

function countRows(data: unknown): number | null {
  if (Array.isArray(data)) return data.length;
  const keys = field(data, "keys");
  return Array.isArray(keys) ? keys.length : null;
}
