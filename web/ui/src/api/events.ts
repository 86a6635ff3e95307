import { useEffect, useState } from "react";
import { api, away, background, got } from "./client";

/**
 * Follows server-sent events of one name. `live` says whether it is connected, `lost` that the server does not
 * answer. It connects anew by itself until it is told that there will be no more. The stream does not keep the session from ending.
 */
export function useEvents<T>(path: string | null, name: string, onEvent: (v: T) => void): { live: boolean; lost: boolean; ended: boolean } {
  const [live, setLive] = useState(false);
  const [lost, setLost] = useState(false);
  const [ended, setEnded] = useState(false);
  useEffect(() => {
    if (!path) return;
    setEnded(false);
    let over = false;
    let source: EventSource;
    let again: ReturnType<typeof setTimeout>;
    // Why a stream ends the browser does not say: a session may be over, or the server away.
    const ask = () =>
      got(api.GET("/v1/session", { headers: background })).then(
        () => false,
        (e: unknown) => away(e),
      );
    const connect = () => {
      source = new EventSource(path);
      source.onopen = () => {
        setLive(true);
        setLost(false);
      };
      source.onerror = () => {
        setLive(false);
        // The browser connects anew, but for what was refused.
        if (source.readyState === EventSource.CLOSED) again = setTimeout(connect, 5_000);
        void ask().then((x) => over || source.readyState === EventSource.OPEN || setLost(x));
      };
      source.addEventListener(name, (e) => onEvent(JSON.parse((e as MessageEvent<string>).data) as T));
      source.addEventListener("end", () => {
        setEnded(true);
        setLive(false);
        source.close();
      });
    };
    connect();
    return () => {
      over = true;
      clearTimeout(again);
      source.close();
    };
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [path, name]);
  return { live, lost, ended };
}
