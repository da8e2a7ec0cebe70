import { hiddenProblem } from "#shared/text/hidden-characters.ts";
import { keyScopesOf } from "#control-plane/http/access/principal.ts";
import type { Queryable } from "#control-plane/core/database/connect.ts";
import type { CreatedKey, Keys } from "#control-plane/accounts/keys/keys.ts";
import type { PlanName, Plans } from "#control-plane/core/plans.ts";

/** Longest name of a key, in characters. */
export const LONGEST_KEY_NAME = 100;

/** Result of the creation of a key. invalid: `message` says what is allowed. full: the plan allows no more keys. */
type NewKey =
  | ({ readonly kind: "ok" } & CreatedKey)
  | {
      readonly kind: "invalid";
      readonly field: "name" | "scopes";
      readonly reason: "type" | "enum";
      readonly message: string;
    }
  | { readonly kind: "full"; readonly message: string };

/** What a caller wants of a key. */
interface WantedKey {
  readonly account: { readonly id: number; readonly plan: PlanName };
  readonly name: string | null;
  /** null: those of the account's plan, also after a change of plan. */
  readonly scopes: readonly string[] | null;
  /** The user who wants it; absent: the operator. */
  readonly madeBy?: number;
}

/** Creates a key of an account, if its name and scopes are allowed and the plan has room for it. */
export async function createNewKey(
  { keys, plans }: { readonly keys: Keys; readonly plans: Plans },
  sql: Queryable,
  { account, name, scopes: requested, madeBy }: WantedKey,
): Promise<NewKey> {
  const unreadable = hiddenProblem(name ?? "");
  if (unreadable !== null) return { kind: "invalid", field: "name", reason: "type", message: unreadable };
  const allowed: readonly string[] = keyScopesOf(plans[account.plan].scopes);
  const beyond = requested?.find((scope) => !allowed.includes(scope));
  if (beyond !== undefined) {
    const message = `the ${account.plan} plan does not allow ${beyond.slice(0, 50)}; allowed: ${allowed.join(", ")}`;
    return { kind: "invalid", field: "scopes", reason: "enum", message };
  }
  const scopes =
    requested === null ? null : keyScopesOf(plans[account.plan].scopes).filter((one) => requested.includes(one));
  const made = await keys.create(sql, { account, name, scopes, madeBy });
  if (made !== null) return { kind: "ok", ...made };
  const { keys: most } = plans[account.plan];
  return { kind: "full", message: `The ${account.plan} plan allows ${most} keys. Revoke one first.` };
}
