import { ServerInterceptingCall, status, type ServerInterceptor } from "@grpc/grpc-js";

/**
 * Creates an interceptor that ends a call with DEADLINE_EXCEEDED if its first message is not complete `waitMs`
 * milliseconds after its headers, and reports its peer. grpc-js itself only has the deadline that the client chooses.
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
