import { canonicalize } from "#test/entry-points.ts";
import { createHash, createHmac } from "node:crypto";
import type { PlanName } from "#control-plane/core/plans.ts";
import type { Answer, TestControlPlane } from "#test/support/control-plane.ts";

/** An account with a key. */
export interface TestAccount {
  readonly id: number;
  readonly key: string;
}

/** A signed export as the API returns it. */
export interface SignedAnswer {
  readonly data: Readonly<Record<string, unknown>> & { readonly account_id: number };
  readonly sig: { readonly v: number; readonly alg: string; readonly kid: string; ts: number; value: string };
}

type Plane = Pick<TestControlPlane, "call" | "operate">;

/** Creates an account with a key. */
export async function createAccount(
  plane: Plane,
  plan: PlanName = "captain",
  given: { readonly name?: string; readonly scopes?: readonly string[] } = {},
): Promise<TestAccount> {
  const made = await plane.operate("POST", "/api/admin/keys", { plan, ...given });
  if (made.status !== 201) throw new Error(made.text);
  const { account_id: id, key } = made.body.data as { account_id: number; key: string };
  return { id, key };
}

/** Calls GET /api/v4/audit-export with this query. */
export function callExport(plane: Plane, key: string, query: string): Promise<Answer> {
  return plane.call(`/api/v4/audit-export?${query}`, { key });
}

/** Returns the export of an answer; throws if it is an error. */
export function exportIn({ status, body, text }: Answer): SignedAnswer {
  if (status !== 200) throw new Error(text);
  return body.data;
}

/** Exports what the query names. */
export async function exportAudit(plane: Plane, key: string, query: string): Promise<SignedAnswer> {
  return exportIn(await callExport(plane, key, query));
}

/** Has the operator show the audit secret of an account. */
export async function revealSecret(plane: Plane, subject: object): Promise<{ kid: string; secret: string }> {
  const revealed = await plane.operate("POST", "/api/admin/audit-secret", subject);
  if (revealed.status !== 200) throw new Error(revealed.text);
  return revealed.body.data;
}

/** Verifies a signature by the recipe of the documentation, without the product's own code for it. */
export function isSignedWith({ data, sig }: SignedAnswer, secret: string): boolean {
  const kid = createHash("sha256").update(secret).digest("hex").slice(0, 8);
  const value = createHmac("sha256", secret)
    .update(`${sig.ts}.${canonicalize(data)}`)
    .digest("hex");
  return sig.v === 1 && sig.alg === "HMAC-SHA256" && sig.kid === kid && sig.value === value;
}
