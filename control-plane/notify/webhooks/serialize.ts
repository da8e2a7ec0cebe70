import type { PlanName } from "#control-plane/core/plans.ts";
import type { Warning } from "#control-plane/http/warnings.ts";
import { adviseOn, FORMATS, maskOptions } from "#control-plane/notify/webhooks/formats/formats.ts";
import { selectedTypes } from "#control-plane/notify/webhooks/match.ts";
import { webhook as resource, type ShownWebhook } from "#control-plane/notify/webhooks/resource.ts";
import { show } from "#control-plane/http/resource.ts";
import { maskSecret, MASK, type WebhookSecrets } from "#control-plane/notify/webhooks/secrets.ts";
import type { StoredWebhook } from "#control-plane/notify/webhooks/webhook.ts";

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
  const { filter } = webhook;
  return show(resource, webhook, {
    id: webhook.id,
    secret: maskSecret(secrets.secret),
    ...(signingSecret === null ? {} : { signing_secret: signingSecret }),
    events: [...selectedTypes(plan, webhook.events)],
    filter: filter === null ? null : { monitor_ids: [...filter.monitor_ids], tags: [...filter.tags] },
    headers: Object.fromEntries(Object.keys(secrets.headers).map((header) => [header, MASK])),
    format_options: maskOptions(FORMATS[webhook.format], secrets.format_options),
    managed_by: secrets.managed_by ?? null,
    inactive_reason: webhook.inactiveReason,
    created_at: webhook.createdAt.toISOString(),
    updated_at: webhook.updatedAt.toISOString(),
  });
}

/** Returns what the owner of a subscription should know about its settings, for `meta.warnings` of a write. */
export function warningsOn({ format }: Pick<ShownWebhook, "format">): readonly Warning[] {
  const message = adviseOn(FORMATS[format]);
  return message === null ? [] : [{ parameter: "format", message, did_you_mean: null }];
}
