-- What a script finds on a server. The second list is what Lua 5.1 has and Redis 7.0.15 keeps from scripts (measured;
-- later servers give them `os.clock`).
std = "lua51"
read_globals = {"redis", "KEYS", "cjson", "cmsgpack", "bit", "struct"}
-- A block of a page makes an argument in MessagePack before it runs a script.
globals = {"ARGV"}
not_globals = {
  "debug", "dofile", "getfenv", "io", "loadfile", "module", "newproxy", "os", "package", "print", "require", "setfenv",
}
