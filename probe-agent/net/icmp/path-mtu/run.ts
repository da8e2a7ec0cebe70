import { addressBytes } from "#probe-agent/net/icmp/address.ts";
import { isFrom } from "#probe-agent/net/icmp/demux.ts";
import { carriesCookie, COOKIE_BYTES, matchesCookie } from "#probe-agent/net/icmp/cookie.ts";
import type { RunTools } from "#probe-agent/net/icmp/echo.ts";
import { interfaceMtu } from "#probe-agent/net/icmp/interface.ts";
import type { MtuRequest } from "#probe-agent/net/icmp/messages.ts";
import { echoRequest } from "#probe-agent/net/icmp/packet.ts";
import { createMtuPlan, type MtuPlan } from "#probe-agent/net/icmp/path-mtu/plan.ts";
import type { PacketSocket } from "#probe-agent/net/icmp/socket.ts";
import type { PathMtu } from "#probe-agent/port/packets.ts";

/** Receives the result of a search: exactly one of `done` and `failed`. After cancelling, there is neither. */
interface MtuEvents {
  done(mtu: PathMtu): void;
  failed(reason: string, message: string): void;
}

const HEADER_BYTES = { 4: 28, 6: 48 } as const;
const TTL = 64;

/**
 * Searches for the path's MTU, as its plan decides, until it ends or its budget is used up. Returns a function that
 * cancels it.
 */
export function startMtu(tools: RunTools, socket: PacketSocket, request: MtuRequest, events: MtuEvents): () => void {
  const { clock, demux } = tools;
  const { version } = socket;
  const { ip } = request;
  const cookie = tools.random(COOKIE_BYTES);
  const target = addressBytes(ip);
  const sizes = new Map<number, number>();
  let plan: MtuPlan | null = null;
  let over = false;
  let sending = false;
  let timer: NodeJS.Timeout | undefined;
  const guard = setTimeout(() => end(), request.budgetMs);

  const { id, forget } = demux.listenEcho({
    onEcho({ seq, payload }, arrival) {
      const size = sizes.get(seq);
      if (over || plan === null || size === undefined || !isFrom(ip, arrival)) return;
      if (payload.length + HEADER_BYTES[version] !== size || !carriesCookie(payload, cookie)) return;
      plan.passed(size, arrival.at);
      step();
    },
    onError({ quoted, nextHopMtu }, arrival) {
      if (over || plan === null || nextHopMtu === null || quoted.protocol !== "icmp") return;
      const size = sizes.get(quoted.seq);
      if (size === undefined || !quoted.destination.equals(target) || !matchesCookie(quoted.payload, cookie)) return;
      plan.refused(size, nextHopMtu, arrival.from);
      step();
    },
  });

  function stop(): void {
    over = true;
    clearTimeout(timer);
    clearTimeout(guard);
    forget();
  }
  function end(): void {
    if (over) return;
    stop();
    if (plan === null) events.failed("send_failed", "reading the MTU of the interface timed out");
    else events.done(plan.verdict());
  }
  function step(): void {
    clearTimeout(timer);
    if (over || sending || plan === null) return;
    const next = plan.next(clock());
    if (next.do === "end") return end();
    if (next.do === "send") return send(plan, next.size);
    timer = setTimeout(() => socket.whenDrained(step), Math.max(1, next.until - clock()));
  }
  function send(current: MtuPlan, size: number): void {
    const seq = sizes.size + 1;
    sizes.set(seq, size);
    sending = true;
    const payload = Buffer.alloc(size - HEADER_BYTES[version]);
    cookie.copy(payload);
    socket.send(echoRequest(version, id, seq, payload), ip, { ttl: TTL, dontFragment: true }, (result) => {
      sending = false;
      if (over) return;
      if ("at" in result) current.sent(size, result.at);
      else if (result.reason === "message_too_long") current.unsendable(size);
      else {
        stop();
        return events.failed(result.reason, result.message);
      }
      step();
    });
  }

  const begin = async (): Promise<void> => {
    plan = createMtuPlan(version, await interfaceMtu(version, ip));
    step();
  };
  begin().catch(() => end());
  return () => {
    if (!over) stop();
  };
}
