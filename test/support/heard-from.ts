import type { TestControlPlane } from "#test/support/control-plane.ts";
import { until } from "#test/support/until.ts";

/**
 * Waits until the control plane has heard from the only agent of this region for so long after this call, so that
 * whatever the agent does meanwhile has been done.
 */
export async function heardFrom(plane: TestControlPlane, region: string, ms: number): Promise<void> {
  const lastSeen = async (): Promise<number> => {
    const { body } = await plane.operate("GET", "/api/admin/probes");
    const rows = body.data as readonly { readonly region: string; readonly last_seen_at: string | null }[];
    return Date.parse(rows.find((row) => row.region === region)?.last_seen_at ?? "");
  };
  const first = await lastSeen();
  await until(async () => (await lastSeen()) >= first + ms, `heard from the agent of ${region} for ${ms} ms`);
}
