using System;
using System.Collections;
using System.IO;
using System.Reflection;
using System.Runtime.InteropServices;
using System.Threading.Tasks;

// Squirrel.Windows' own classes, which are internal to its Update.exe:
//   squirrel-client.exe Update.exe parse FILE
//   squirrel-client.exe Update.exe check|update|update-full URL ROOT APPLICATION
// Prints a line for each fact, and "error MESSAGE" with exit code 1.
public static class SquirrelClient
{
    const BindingFlags Any =
        BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.Instance | BindingFlags.Static;

    static Assembly squirrel;

    // Mono's own exit now and then waits a minute for a thread of its pool.
    [DllImport("libc", EntryPoint = "_exit")]
    static extern void ExitAtOnce(int code);

    public static void Main(string[] arguments)
    {
        var code = Run(arguments);
        Console.Out.Flush();
        ExitAtOnce(code);
    }

    static int Run(string[] arguments)
    {
        squirrel = Assembly.LoadFrom(arguments[0]);
        try {
            if (arguments[1] == "parse") Parse(File.ReadAllText(arguments[2]));
            else Update(arguments[1], arguments[2], arguments[3], arguments[4]);
            return 0;
        } catch (Exception error) {
            while (error.InnerException != null) error = error.InnerException;
            Console.WriteLine("error " + error.GetType().Name + " " + error.Message.Replace("\n", " "));
            return 1;
        }
    }

    static void Parse(string text)
    {
        var parse = TypeOf("Squirrel.ReleaseEntry").GetMethod("ParseReleaseFile", Any);
        foreach (var entry in (IEnumerable) parse.Invoke(null, new object[] { text })) Print("entry", entry);
    }

    static void Update(string verb, string url, string root, string application)
    {
        var type = TypeOf("Squirrel.UpdateManager");
        var manager = type.GetConstructors(Any)[0].Invoke(new object[] { url, application, root, null });
        using ((IDisposable) manager) {
            var intention = Enum.Parse(TypeOf("Squirrel.UpdaterIntention"), "Update");
            var check = type.GetMethod("CheckForUpdate", Any);
            var info = Wait(check.Invoke(manager, new[] { verb == "update-full", null, intention }));
            Print("current", Get(info, "CurrentlyInstalledVersion"));
            Print("future", Get(info, "FutureReleaseEntry"));
            var releases = (IEnumerable) Get(info, "ReleasesToApply");
            foreach (var entry in releases) Print("apply", entry);
            if (verb == "check") return;
            var download = type.GetMethod("DownloadReleases", Any);
            Wait(download.Invoke(manager, new object[] { releases, null }));
            Console.WriteLine("downloaded");
        }
    }

    static void Print(string fact, object entry)
    {
        if (entry == null) return;
        Console.WriteLine(fact + " " + Get(entry, "Version") + " " + Get(entry, "EntryAsString"));
    }

    static object Wait(object task)
    {
        ((Task) task).Wait();
        var result = task.GetType().GetProperty("Result");
        return result == null ? null : result.GetValue(task, null);
    }

    static object Get(object from, string property)
    {
        return from.GetType().GetProperty(property, Any).GetValue(from, null);
    }

    static Type TypeOf(string name)
    {
        return squirrel.GetType(name, true);
    }
}
