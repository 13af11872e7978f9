package main

import (
	"context"
	"fmt"
	"time"

	lua "github.com/yuin/gopher-lua"
)

// What Argo CD gives a script to end, unless it is set otherwise.
const scriptTime = time.Second

// What a customized script finds in Argo CD unless useOpenLibs is set: neither string nor math, and of os only the time.
var libraries = []struct {
	name string
	open lua.LGFunction
}{
	{lua.LoadLibName, lua.OpenPackage},
	{lua.BaseLibName, lua.OpenBase},
	{lua.TabLibName, lua.OpenTable},
}

// The statuses that Argo CD knows.
var healthStatuses = map[string]bool{
	"Healthy": true, "Progressing": true, "Degraded": true, "Suspended": true, "Missing": true, "Unknown": true,
}

func luaValue(l *lua.LState, value any) lua.LValue {
	switch given := value.(type) {
	case bool:
		return lua.LBool(given)
	case string:
		return lua.LString(given)
	case int64:
		return lua.LNumber(given)
	case float64:
		return lua.LNumber(given)
	case []any:
		list := l.NewTable()
		for _, item := range given {
			list.Append(luaValue(l, item))
		}
		return list
	case map[string]any:
		table := l.NewTable()
		for key, item := range given {
			table.RawSetString(key, luaValue(l, item))
		}
		return table
	}
	return lua.LNil
}

// runScript returns the status and the message that the script returns for the object.
func runScript(object map[string]any, script string) (string, string, error) {
	l := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer l.Close()
	for _, library := range libraries {
		call := lua.P{Fn: l.NewFunction(library.open), Protect: true}
		if err := l.CallByParam(call, lua.LString(library.name)); err != nil {
			return "", "", err
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), scriptTime)
	defer cancel()
	l.SetContext(ctx)
	l.SetGlobal("obj", luaValue(l, object))
	if err := l.DoString(script); err != nil {
		return "", "", err
	}
	answer, ok := l.Get(-1).(*lua.LTable)
	if !ok {
		return "", "", fmt.Errorf("it returns a %s, not a table", l.Get(-1).Type())
	}
	status := lua.LVAsString(answer.RawGetString("status"))
	if !healthStatuses[status] {
		return "", "", fmt.Errorf("it returns the status %q", status)
	}
	return status, lua.LVAsString(answer.RawGetString("message")), nil
}
