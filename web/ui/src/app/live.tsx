import { createContext, type ReactNode, useContext, useState } from "react";
import type { Schemas } from "@/api/client";
import { useEvents } from "@/api/events";
import { useSession } from "./session";

interface Live {
  overview: Schemas["Overview"] | null;
  /** Whether it is fed as things happen; otherwise it is the last that came. */
  live: boolean;
}

const Context = createContext<Live>({ overview: null, live: false });

/** One stream of the overview for the page and the navigation. */
export function LiveOverview({ children }: { children: ReactNode }) {
  const { may } = useSession();
  const [overview, set] = useState<Schemas["Overview"] | null>(null);
  const { live } = useEvents<Schemas["Overview"]>(may("metrics.read") ? "/v1/streams" : null, "overview", set);
  return <Context.Provider value={{ overview, live }}>{children}</Context.Provider>;
}

export const useLive = (): Live => useContext(Context);
