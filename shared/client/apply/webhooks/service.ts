import type { Row } from "#shared/client/apply/document.ts";
import type { Step } from "#shared/client/apply/service.ts";
import {
  bodyOf,
  describeChanges,
  monitorsOf,
  type PlannedWebhook,
  type WebhookPlan,
  type WebhookProblem,
} from "#shared/client/apply/webhooks/plan.ts";
import { field } from "#shared/client/call.ts";
import { ask, type Asked, type Connection } from "#shared/client/connection.ts";
import { USAGE } from "#shared/client/exit-codes.ts";

/** What writes of webhooks need beside their rows. */
interface Naming {
  /** Owner of the document; null if it has none. */
  readonly owner: string | null;
  /** Ids of monitors by the names of the document; undefined: a monitor that is not there yet. */
  readonly idOf: (name: string) => number | undefined;
}

const WEBHOOKS = "/api/v4/webhooks";

/** Lists the webhooks of the account, oldest first. */
export async function listWebhooks(connection: Connection): Promise<Step<readonly unknown[]>> {
  const answer = await ask(connection, WEBHOOKS);
  if (!answer.ok) return answer;
  return { ok: true, value: Array.isArray(answer.data) ? (answer.data as readonly unknown[]) : [] };
}

/**
 * Completes a plan by what only the service knows: which secret values differ, and what it refuses. Each row that is new, or
 * can differ, is tried.
 */
export async function tryWebhooks(
  connection: Connection,
  plan: WebhookPlan,
  naming: Naming,
): Promise<Step<WebhookPlan>> {
  const changed: PlannedWebhook[] = [];
  const unchanged = [...plan.unchanged];
  const problems = [...plan.problems, ...(await findSurplus(connection, plan))];
  for (const planned of [...plan.created, ...plan.changed]) {
    // oxlint-disable-next-line no-await-in-loop -- requests count by the plan
    const tried = await send(connection, planned, naming, true);
    if (!tried.ok) {
      const problem = problemOf(planned, tried);
      if (problem === null) return tried;
      problems.push(problem);
    } else if (planned.own !== null) {
      const names = field(tried.data, "changed");
      const isWaiting = monitorsOf(planned.row["filter"]).some((name) => naming.idOf(name) === undefined);
      const differing = [...(Array.isArray(names) ? names.map(String) : []), ...(isWaiting ? ["filter"] : [])];
      const changes = describeChanges(planned.row, planned.own, differing);
      if (changes.length > 0) changed.push({ ...planned, changes });
      else unchanged.push(planned);
    }
  }
  return { ok: true, value: { ...plan, changed, unchanged, problems } };
}

/** Names what would not fit into the plan of the account: each new row alone can fit. */
async function findSurplus(
  connection: Connection,
  { created, present }: WebhookPlan,
): Promise<readonly WebhookProblem[]> {
  const [first] = created;
  if (first === undefined) return [];
  const account = await ask(connection, "/api/v4/account");
  const most = account.ok ? Number(field(field(account.data, "limits"), "webhooks") ?? Infinity) : Infinity;
  if (present >= most || present + created.length <= most) return [];
  const message = `The plan allows ${most} webhooks, inactive ones included; your account has ${present}, and the document adds ${created.length}.`;
  return [{ index: first.index, field: null, message, exit: USAGE }];
}

/** Sends a row; a dry run only tries it. */
function send(connection: Connection, planned: PlannedWebhook, naming: Naming, isDryRun: boolean): Promise<Asked> {
  const json = bodyOf(planned, naming.owner, naming.idOf);
  const { own } = planned;
  const query = [...(own === null ? [] : [`id=${own.id}`]), ...(isDryRun ? ["dry_run=1"] : [])].join("&");
  return ask(connection, `${WEBHOOKS}${query === "" ? "" : `?${query}`}`, {
    method: own === null ? "POST" : "PUT",
    json,
  });
}

/** Returns the refusal of a row as a problem of it; null if it says nothing about the row. */
function problemOf(
  { index }: PlannedWebhook,
  { error, exit }: Extract<Asked, { readonly ok: false }>,
): WebhookProblem | null {
  const [path, message] = [field(error, "field"), field(error, "message")];
  if (typeof path !== "string" || typeof message !== "string") return null;
  // The message of a single problem begins with its field.
  const own = message.startsWith(`${path}: `) ? message.slice(path.length + 2) : message;
  const named = path.replace(/^filter\.monitor_ids/, "filter.monitors");
  return { index, field: path === "webhooks" ? null : named, message: own, exit };
}

/** Writes a plan row by row. `onDone` is called after each. The first failure ends it, and its line names the webhook. */
export async function writeWebhooks(
  connection: Connection,
  plan: WebhookPlan,
  naming: Naming,
  onDone: (what: "created" | "changed" | "deleted") => void,
): Promise<Step<null>> {
  for (const planned of [...plan.created, ...plan.changed]) {
    // oxlint-disable-next-line no-await-in-loop -- the first failure ends it
    const answer = await send(connection, planned, naming, false);
    if (!answer.ok) return { ...answer, line: `${answer.line} (at the webhook ${planned.title})` };
    onDone(planned.own === null ? "created" : "changed");
  }
  for (const { id, title } of plan.deleted) {
    // oxlint-disable-next-line no-await-in-loop -- likewise
    const answer = await ask(connection, `${WEBHOOKS}?id=${id}`, { method: "DELETE" });
    if (!answer.ok) return { ...answer, line: `${answer.line} (at the deletion of the webhook ${title})` };
    onDone("deleted");
  }
  return { ok: true, value: null };
}

/** Returns the webhooks that get a secret which nobody has seen: receivers of the standard format verify signatures. */
export function unseenSecrets({ created }: WebhookPlan): readonly string[] {
  const isUnseen = ({ secret, format = "standard" }: Row) => secret === undefined && format === "standard";
  return created
    .filter(({ row }) => isUnseen(row))
    .map(({ title }) => `the webhook ${title} gets a generated secret that is not shown; rotate it to see one`);
}
