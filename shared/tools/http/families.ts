import { Type } from "typebox";
import { Nullable } from "#shared/tools/fields.ts";
import { record, text, word } from "#shared/tools/shapes.ts";

function family(name: string) {
  return record(
    {
      status: word(
        ["ok", "failed", "absent", "not_tried"],
        "ok: connected; failed: the target's fault; absent: the host has no such address; not_tried: unknown",
      ),
      reason: Nullable(
        text(
          "For failed: refused, timeout, reset or unreachable. For not_tried: no_route (this probe has no such route), " +
            "dns_failed, target_not_allowed, out_of_time, not_asked or local_error. Otherwise null",
        ),
      ),
      ip: Nullable(text("Address that was connected to or tried; null if there is none")),
      connect_ms: Nullable(
        Type.Number({
          minimum: 0,
          description: "Time of the TCP connection in milliseconds; null if there was no connection",
        }),
      ),
    },
    `Whether the final host accepts connections over ${name}`,
  );
}

/** Whether a host accepts connections, for each address family. */
export const Families = record(
  { ipv4: family("IPv4"), ipv6: family("IPv6") },
  "Both address families of the final host: the one that was used, and one connection to an address of the other",
);
