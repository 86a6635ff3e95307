import { TextInput, type TextInputProps } from "@mantine/core";
import { useEffect, useState } from "react";

interface Props extends Omit<TextInputProps, "value" | "defaultValue" | "onChange" | "type"> {
  value?: number | string;
  defaultValue?: number | string;
  onChange?: (v: number | string) => void;
  /** Whole numbers only. */
  whole?: boolean;
}

/** A field for a number. What is typed stays as it is until it is one; an empty field is "". */
export function NumberField({ value, defaultValue, onChange, whole, ...rest }: Props) {
  const [typed, type] = useState(String(value ?? defaultValue ?? ""));
  useEffect(() => {
    if (value !== undefined) type((t) => (t !== "" && Number(t) === Number(value) ? t : String(value)));
  }, [value]);
  return (
    <TextInput
      {...rest}
      type="number"
      inputMode={whole ? "numeric" : "decimal"}
      step={whole ? 1 : "any"}
      value={typed}
      onChange={(e) => {
        const t = e.currentTarget.value;
        type(t);
        onChange?.(t === "" ? "" : Number(t));
      }}
    />
  );
}
