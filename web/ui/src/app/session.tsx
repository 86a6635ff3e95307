import { Center, Stack, Title } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { createContext, type ReactNode, useCallback, useContext, useEffect, useMemo, useState } from "react";
import { api, away, got, Problem, type Schemas, signedOut } from "@/api/client";
import { SignIn } from "@/pages/SignIn";
import { Failure } from "@/parts/Failure";
import { Loading } from "@/parts/Loading";
import { NotConnected } from "@/parts/NotConnected";
import { Duty } from "./Duty";

type Session = Schemas["Session"];

interface Signed {
  session: Session;
  /** Whether the person has the permission somewhere; the server asks again for each record. */
  may: (permission: string) => boolean;
  signOut: () => Promise<void>;
  /** Reads the session anew, which also keeps it from ending. */
  renew: () => Promise<void>;
}

const Context = createContext<Signed | null>(null);

export function useSession(): Signed {
  const s = useContext(Context);
  if (!s) throw new Error("no session");
  return s;
}

const sessionKey = ["session"];

/** Shows what is inside to somebody who is signed in, and asks others to. When a session ends the page stays behind the question. */
export function SessionGate({ children }: { children: ReactNode }) {
  const client = useQueryClient();
  const [over, setOver] = useState(false);
  const q = useQuery({
    queryKey: sessionKey,
    queryFn: () => got(api.GET("/v1/session")),
    // A server that is away is asked until it is back.
    retry: (n, e) => away(e) || (!(e instanceof Problem && e.status < 500) && n < 2),
    retryDelay: 3_000,
    staleTime: Infinity,
  });
  useEffect(() => {
    const f = () => setOver(true);
    signedOut.addEventListener("out", f);
    return () => signedOut.removeEventListener("out", f);
  }, []);
  const renew = useCallback(async () => {
    const s = await got(api.GET("/v1/session"));
    client.setQueryData(sessionKey, s);
  }, [client]);
  const signOut = useCallback(async () => {
    await got(api.DELETE("/v1/session"));
    // Nothing of the person before stays in memory.
    location.assign("/");
  }, []);
  const came = useCallback(
    (s: Session) => {
      const before = client.getQueryData<Session>(sessionKey);
      if (before && before.actor !== s.actor) {
        location.assign("/");
        return;
      }
      client.setQueryData(sessionKey, s);
      setOver(false);
      void client.invalidateQueries();
    },
    [client],
  );
  const session = q.data;
  const value = useMemo<Signed | null>(() => {
    if (!session) return null;
    const has = new Set<string>(session.permissions);
    return { session, may: (p) => has.has(p), signOut, renew };
  }, [session, signOut, renew]);

  if (q.isPending && away(q.failureReason)) {
    return (
      <Center component="main" mih="100vh" p="md">
        <Stack maw={640}>
          <Title order={1} size="h2">
            claimdlq
          </Title>
          <NotConnected />
        </Stack>
      </Center>
    );
  }
  if (q.isPending) return <Loading label="Asking who you are" />;
  if (!value) {
    if (q.error instanceof Problem && q.error.status === 401) return <SignIn onSignedIn={came} hint={q.error.hint} singleSignOn={q.error.singleSignOn} />;
    return <Failure error={q.error} onRetry={() => void q.refetch()} />;
  }
  if (value.session.must) return <Duty session={value.session} onDone={came} onSignOut={() => void signOut()} />;
  return (
    <Context.Provider value={value}>
      {children}
      {over && <SignIn onSignedIn={came} again={value.session.actor} />}
    </Context.Provider>
  );
}
