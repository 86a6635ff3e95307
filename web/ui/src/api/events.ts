import { useEffect, useState } from "react";

/**
 * Follows server-sent events of one name. The browser connects anew by itself; `live` says whether it is
 * connected. The stream does not keep the session from ending.
 */
export function useEvents<T>(path: string | null, name: string, onEvent: (v: T) => void): { live: boolean; ended: boolean } {
  const [live, setLive] = useState(false);
  const [ended, setEnded] = useState(false);
  useEffect(() => {
    if (!path) return;
    setEnded(false);
    const source = new EventSource(path);
    source.onopen = () => setLive(true);
    source.onerror = () => setLive(false);
    source.addEventListener(name, (e) => onEvent(JSON.parse((e as MessageEvent<string>).data) as T));
    source.addEventListener("end", () => {
      setEnded(true);
      setLive(false);
      source.close();
    });
    return () => source.close();
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [path, name]);
  return { live, ended };
}
