import { ServerInterceptingCall, status, type ServerInterceptor } from "@grpc/grpc-js";

/** Reports the peer of each call as it begins. */
export function countCalls(onBegin: (peer: string) => void): ServerInterceptor {
  return (_method, call) => {
    onBegin(call.getPeer());
    return new ServerInterceptingCall(call);
  };
}

/**
 * Ends a call whose first message is not complete `waitMs` milliseconds after its headers, with DEADLINE_EXCEEDED, and
 * reports its peer. grpc-js itself knows only the deadline that the client chooses.
 */
export function awaitFirstMessage(waitMs: number, onSilent: (peer: string) => void): ServerInterceptor {
  return (_method, call) => {
    let timer: NodeJS.Timeout | undefined;
    const settled = (): void => clearTimeout(timer);
    return new ServerInterceptingCall(call, {
      start(next) {
        timer = setTimeout(() => {
          onSilent(call.getPeer());
          call.sendStatus({ code: status.DEADLINE_EXCEEDED, details: `no message within ${waitMs} ms` });
        }, waitMs);
        next({
          onReceiveMessage(message, forward) {
            settled();
            forward(message);
          },
          onReceiveHalfClose(forward) {
            settled();
            forward();
          },
          onCancel: settled,
        });
      },
    });
  };
}
