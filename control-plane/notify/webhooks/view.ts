import type { Static } from "typebox";
import type { PlanName } from "#control-plane/core/plans.ts";
import type { Warning } from "#control-plane/http/warnings.ts";
import { adviseOn, FORMATS, maskOptions } from "#control-plane/notify/webhooks/formats/formats.ts";
import { selectedTypes } from "#control-plane/notify/webhooks/match.ts";
import type { SHOWN } from "#control-plane/notify/webhooks/schemas.ts";
import { maskSecret, MASK } from "#control-plane/notify/webhooks/secrets.ts";
import type { StoredWebhook, WebhookSecrets } from "#control-plane/notify/webhooks/webhook.ts";

/** A subscription as the API shows it. */
export type ShownWebhook = Static<typeof SHOWN>;

/**
 * Returns a subscription as the API shows it. Types that the plan does not allow are not sent, so they are not listed.
 * `signingSecret`: a secret that was just generated.
 */
export function showWebhook(
  webhook: StoredWebhook,
  secrets: WebhookSecrets,
  plan: PlanName,
  signingSecret: string | null = null,
): ShownWebhook {
  const { id, name, url, events, filter, isActive, format, inactiveReason, createdAt, updatedAt } = webhook;
  return {
    id,
    name,
    url,
    secret: maskSecret(secrets.secret),
    ...(signingSecret === null ? {} : { signing_secret: signingSecret }),
    events: [...selectedTypes(plan, events)],
    filter: filter === null ? null : { monitor_ids: [...filter.monitor_ids], tags: [...filter.tags] },
    headers: Object.fromEntries(Object.keys(secrets.headers).map((header) => [header, MASK])),
    format,
    format_options: maskOptions(FORMATS[format], secrets.format_options),
    managed_by: secrets.managed_by ?? null,
    is_active: isActive,
    inactive_reason: inactiveReason,
    created_at: createdAt.toISOString(),
    updated_at: updatedAt.toISOString(),
  };
}

/** Returns what the owner of a subscription should know about its settings, for `meta.warnings` of a write. */
export function warningsOn({ format }: Pick<ShownWebhook, "format">): readonly Warning[] {
  const message = adviseOn(FORMATS[format]);
  return message === null ? [] : [{ parameter: "format", message, did_you_mean: null }];
}
