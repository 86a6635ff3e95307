import { TextInput } from "@mantine/core";
import { IconSearch } from "@tabler/icons-react";
import { useState } from "react";
import { useLocation } from "wouter";
import { api, got, Problem } from "@/api/client";

/** Goes to a record by its number or its key. */
export function Find() {
  const [, go] = useLocation();
  const [text, setText] = useState("");
  const [fault, setFault] = useState("");
  const find = async () => {
    const t = text.trim();
    if (!t) return;
    try {
      const byKey = (await got(api.GET("/v1/records", { params: { query: { key: t, limit: 1 } } }))).records[0];
      if (byKey || !/^\d{1,15}$/.test(t)) {
        if (byKey) go(`/records/${byKey.id}`);
        else setFault("There is no such record");
        return;
      }
      const d = await got(api.GET("/v1/records/{id}", { params: { path: { id: Number(t) } } }));
      go(`/records/${d.record.id}`);
    } catch (e) {
      setFault(e instanceof Problem && e.status === 404 ? "There is no such record" : "It could not be looked for");
    }
  };
  return (
    <form
      role="search"
      aria-label="Find a record"
      onSubmit={(e) => {
        e.preventDefault();
        void find();
      }}
    >
      <TextInput
        size="xs"
        w={210}
        aria-label="Find by id or key"
        placeholder="Id or key, Enter"
        leftSection={<IconSearch size={14} aria-hidden />}
        value={text}
        onChange={(e) => {
          setText(e.currentTarget.value);
          setFault("");
        }}
        error={fault || undefined}
        maxLength={64}
        autoComplete="off"
      />
    </form>
  );
}
