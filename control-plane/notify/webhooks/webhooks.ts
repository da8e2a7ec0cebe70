import type { Egress } from "#shared/internet/egress.ts";
import type { App } from "#control-plane/core/app.ts";
import type { ChangedField } from "#control-plane/http/access/diff-resource.ts";
import { changedFields, columnsOf } from "#control-plane/http/resource.ts";
import type { Queryable, Transaction } from "#control-plane/core/database/connect.ts";
import type { FailingReceivers } from "#control-plane/notify/deliveries/failing.ts";
import type { PlanName, Plans } from "#control-plane/core/plans.ts";
import type { Encryption } from "#control-plane/core/secrets/encryption.ts";
import { readWebhook, type ReadWebhook } from "#control-plane/notify/webhooks/read-webhook.ts";
import { refuseAbsent, refuseGone, refuseWrite, type Written } from "#control-plane/http/written.ts";
import { type Given, type ShownWebhook, webhook as resource } from "#control-plane/notify/webhooks/resource.ts";
import { generateSecret, openSecrets, replaceSecret, sealSecrets } from "#control-plane/notify/webhooks/secrets.ts";
import {
  deleteWebhook,
  findWebhook,
  insertWebhook,
  listWebhooks,
  lockAccount,
  pauseNewest,
  resumeOldest,
  updateWebhook,
} from "#control-plane/notify/webhooks/store.ts";
import { showWebhook } from "#control-plane/notify/webhooks/serialize.ts";
import type { StoredWebhook, WebhookDraft } from "#control-plane/notify/webhooks/webhook.ts";
import { maskAddress } from "#shared/webhooks/mask-address.ts";

/** A subscription that was changed. */
interface ChangedWebhook {
  readonly webhook: ShownWebhook;
  /** For the log of changes. */
  readonly changed: readonly ChangedField[];
  readonly removed: ReadWebhook["removed"];
}

/** What a write would do. */
interface Attempted {
  /** Names of the fields that would get another value. */
  readonly changed: readonly string[];
  readonly removed: ReadWebhook["removed"];
}

/** Webhook subscriptions of accounts. */
export interface Webhooks {
  /** Lists the subscriptions of an account, oldest first. */
  list(on: Queryable, accountId: number): Promise<readonly ShownWebhook[]>;
  /** Creates a subscription. Without a secret one is generated, which the result shows. */
  create(tx: Transaction, accountId: number, given: Given): Promise<Written<ShownWebhook>>;
  /** Changes a subscription. */
  change(tx: Transaction, accountId: number, id: number, given: Given): Promise<Written<ChangedWebhook>>;
  /** Checks a creation, or the change of a subscription, and writes nothing. */
  attempt(tx: Transaction, accountId: number, id: number | null, given: Given): Promise<Written<Attempted>>;
  /** Gives a subscription a new secret, which the result shows. The old one signs too for 24 h. */
  rotate(tx: Transaction, accountId: number, id: number): Promise<Written<ChangedWebhook>>;
  /**
   * Deletes a subscription. What waits for it fails; its log stays. Returns its name; null if the account has none with
   * this id.
   */
  remove(tx: Transaction, accountId: number, id: number): Promise<string | null>;
  /** Adapts the subscriptions of an account to its plan, in the transaction that changes it. */
  accountChanged(on: Queryable, accountId: number): Promise<void>;
  /** Returns the account's subscriptions for its data export. */
  export(on: Queryable, accountId: number): Promise<unknown>;
}

/** Dependencies of the subscriptions. */
interface WebhooksDeps extends Pick<App, "sql" | "clock" | "random"> {
  readonly encryption: Encryption;
  readonly plans: Plans;
  /** Rules for the addresses of receivers: those of the control plane. */
  readonly egress: Egress;
  readonly failing: FailingReceivers;
  /** Makes sure that the account's own address has been asked for its confirmation. */
  readonly ensureOwnAddress: (tx: Transaction, accountId: number) => Promise<void>;
}

/** Makes another draft of a subscription. */
type Edit = (present: WebhookDraft, context: Parameters<typeof readWebhook>[2]) => Written<ReadWebhook>;

/** A change of a subscription that can be written. */
interface Vetted {
  readonly stored: StoredWebhook;
  readonly present: WebhookDraft;
  readonly draft: ReadWebhook;
  readonly plan: PlanName;
  readonly now: Date;
}

/** Opens the subscriptions of one replica. */
export function createWebhooks({
  clock,
  random,
  encryption,
  plans,
  egress,
  failing,
  ensureOwnAddress,
}: WebhooksDeps): Webhooks {
  /** Locks the account, finds a subscription of it, and checks what `change` makes of it. */
  async function vet(tx: Transaction, accountId: number, id: number, change: Edit): Promise<Written<Vetted>> {
    const account = await lockAccount(tx, accountId);
    if (account === null) return refuseGone();
    const stored = await findWebhook(tx, accountId, id);
    if (stored === null) return refuseAbsent("webhook");
    const now = clock.now();
    const present = { settings: stored, secrets: openSecrets(encryption, stored.secrets) };
    const changed = change(present, { plan: account.plan, egress, now });
    if (!changed.ok) return changed;
    const most = plans[account.plan].webhooks;
    if (changed.value.settings.is_active && !stored.is_active && account.active >= most) {
      const message = `The plan allows ${most} active webhooks; make another one inactive or delete it first.`;
      return refuseWrite({ code: "plan_limit_exceeded", field: "is_active", message });
    }
    return { ok: true, value: { stored, present, draft: changed.value, plan: account.plan, now } };
  }

  /** Writes what `change` makes of a subscription. */
  async function edit(tx: Transaction, accountId: number, id: number, change: Edit): Promise<Written<ChangedWebhook>> {
    const vetted = await vet(tx, accountId, id, change);
    if (!vetted.ok) return vetted;
    const { stored, present, draft, plan, now } = vetted.value;
    const { settings, secrets } = draft;
    const inactiveReason = settings.is_active === stored.is_active ? stored.inactiveReason : null;
    const row = { ...settings, inactiveReason, secrets: sealSecrets(encryption, secrets) };
    const written = await updateWebhook(tx, id, row, now);
    if (written === null) return refuseAbsent("webhook");
    if (settings.is_active && !stored.is_active) await failing.forget(tx, id);
    const webhook = showWebhook(written, secrets, plan);
    const before = { ...present, shown: showWebhook(stored, present.secrets, plan) };
    const after = { ...draft, shown: webhook };
    return { ok: true, value: { webhook, changed: changesOf(before, after), removed: draft.removed } };
  }

  /** Locks the account, and checks a subscription that it would get. */
  async function vetCreation(
    tx: Transaction,
    accountId: number,
    given: Given,
    generated: string,
  ): Promise<Written<Pick<Vetted, "draft" | "plan" | "now">>> {
    const account = await lockAccount(tx, accountId);
    if (account === null) return refuseGone();
    const now = clock.now();
    const read = readWebhook(given, newDraft(generated), { plan: account.plan, egress, now });
    if (!read.ok) return read;
    const most = plans[account.plan].webhooks;
    if (account.total >= most) {
      const message = `The plan allows ${most} webhooks, inactive ones included; this account has ${account.total}.`;
      return refuseWrite({ code: "plan_limit_exceeded", field: "webhooks", message });
    }
    return { ok: true, value: { draft: read.value, plan: account.plan, now } };
  }

  const show = (stored: StoredWebhook, plan: Parameters<typeof showWebhook>[2]): ShownWebhook =>
    showWebhook(stored, openSecrets(encryption, stored.secrets), plan);

  return {
    async list(on, accountId) {
      const stored = await listWebhooks(on, accountId);
      return stored.map(({ plan, ...webhook }) => show(webhook, plan));
    },
    async create(tx, accountId, given) {
      const generated = generateSecret(random);
      const vetted = await vetCreation(tx, accountId, given, generated);
      if (!vetted.ok) return vetted;
      const { draft, plan, now } = vetted.value;
      const { settings } = draft;
      const secrets = { ...draft.secrets, previous: null };
      const row = { ...settings, inactiveReason: null, secrets: sealSecrets(encryption, secrets) };
      const [stored] = await Promise.all([insertWebhook(tx, accountId, row, now), ensureOwnAddress(tx, accountId)]);
      const isGenerated = secrets.secret === generated;
      return { ok: true, value: showWebhook(stored, secrets, plan, isGenerated ? generated : null) };
    },
    change: (tx, accountId, id, given) =>
      edit(tx, accountId, id, (present, context) => readWebhook(given, present, context)),
    async attempt(tx, accountId, id, given) {
      if (id === null) {
        const generated = generateSecret(random);
        const made = await vetCreation(tx, accountId, given, generated);
        if (!made.ok) return made;
        return { ok: true, value: { changed: changedNames(newDraft(generated), made.value.draft), removed: [] } };
      }
      const vetted = await vet(tx, accountId, id, (present, context) => readWebhook(given, present, context));
      if (!vetted.ok) return vetted;
      const { present, draft } = vetted.value;
      return { ok: true, value: { changed: changedNames(present, draft), removed: draft.removed } };
    },
    async rotate(tx, accountId, id) {
      const generated = generateSecret(random);
      const rotated = await edit(tx, accountId, id, ({ settings, secrets }, { now }) => {
        return { ok: true, value: { settings, secrets: replaceSecret(secrets, generated, now), removed: [] } };
      });
      if (!rotated.ok) return rotated;
      const webhook = { ...rotated.value.webhook, signing_secret: generated };
      return { ok: true, value: { ...rotated.value, webhook } };
    },
    async remove(tx, accountId, id) {
      await lockAccount(tx, accountId);
      const name = await deleteWebhook(tx, accountId, id);
      if (name !== null) await failing.forget(tx, id);
      return name;
    },
    async accountChanged(on, accountId) {
      const tx = on as Transaction;
      const account = await lockAccount(tx, accountId);
      if (account === null || account.total === 0) return;
      const surplus = account.active - plans[account.plan].webhooks;
      if (surplus > 0) await pauseNewest(tx, accountId, surplus, clock.now());
      if (surplus < 0) await resumeOldest(tx, accountId, -surplus, clock.now());
    },
    async export(on, accountId) {
      const stored = await listWebhooks(on, accountId);
      return stored.map(({ plan, ...webhook }) => show(webhook, plan));
    },
  };
}

/** What a creation begins with. */
function newDraft(secret: string): WebhookDraft {
  return {
    settings: { name: "", url: "", events: null, filter: null, is_active: true, format: "standard" },
    secrets: { secret, previous: null, headers: {}, format_options: {} },
  };
}

/** A subscription with its secrets, and as the API shows it. */
interface Webhook extends WebhookDraft {
  readonly shown: ShownWebhook;
}

/** Returns the names of the fields in which two drafts differ; of header fields and options each has its own. */
function changedNames(before: WebhookDraft, after: WebhookDraft): readonly string[] {
  const fieldsOf = ({ settings, secrets }: WebhookDraft) => ({
    ...columnsOf(resource, settings),
    events: settings.events,
    filter: settings.filter,
    secret: secrets.secret,
    ...named("headers", secrets.headers),
    ...named("format_options", secrets.format_options),
    managed_by: secrets.managed_by ?? null,
  });
  const [one, other]: readonly Readonly<Record<string, unknown>>[] = [fieldsOf(before), fieldsOf(after)];
  const order = Object.keys(resource.fields);
  const placeOf = (field: string) => order.indexOf(field.split(".", 1)[0] ?? "");
  return Object.keys({ ...one, ...other })
    .filter((field) => JSON.stringify(one?.[field]) !== JSON.stringify(other?.[field]))
    .toSorted((a, b) => placeOf(a) - placeOf(b));
}

/**
 * Returns the fields of a subscription that a change has changed: those that users write. An address that is a secret, in
 * whole or in part, counts as one: the log is also read by others than the owner.
 */
function changesOf(before: Webhook, after: Webhook): readonly ChangedField[] {
  const changed = new Set(changedNames(before, after));
  const [one, other] = [before.secrets, after.secrets];
  const [past, present] = [before.shown.format_options, after.shown.format_options];
  // An option that is no secret is shown as it is.
  const isShown = (name: string) =>
    past[name] === one.format_options[name] && present[name] === other.format_options[name];
  const headers = Object.keys({ ...other.headers, ...one.headers });
  const options = Object.keys({ ...other.format_options, ...one.format_options }).filter((name) => !isShown(name));
  const secrets = [
    "secret",
    ...([before, after].some(hasSecretUrl) ? ["url"] : []),
    ...headers.map((name) => `headers.${name}`),
    ...options.map((name) => `format_options.${name}`),
  ].filter((field) => changed.has(keyOf(field)));
  return changedFields(resource, before.shown, after.shown, secrets);
}

function hasSecretUrl({ settings }: Webhook): boolean {
  return maskAddress(settings) !== settings.url;
}

/** Returns the fields of an object of a draft by their dotted names. */
function named(object: string, values: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [keyOf(`${object}.${name}`), value]));
}

/** Names of header fields have no case. */
function keyOf(field: string): string {
  return field.startsWith("headers.") ? field.toLowerCase() : field;
}
